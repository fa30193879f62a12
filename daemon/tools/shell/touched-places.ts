/**
 * Which delicate places a command names (TL29): what it writes by redirection or by an option, and words that lead into a repository's .git,
 * Alcove's home, secrets, or, for programs that write, out of the project; and folders that hold such places when all below is read. A word is looked up from every folder that the command may be in by then, since
 * `cd` is followed by reading only.
 */
import { isAbsolute } from 'node:path';
import { outputsOf } from './outputs.ts';
import { editsInPlace, programText } from './program-texts.ts';
import type { CommandJudgement } from './judge.ts';
import { hasOption } from './option.ts';
import { namesOnly, onlyLooks } from './programs.ts';
import { findPlace, isWithin, type PathEnvironment, type Place } from '../paths.ts';

/** A sentence that says what the command would touch, or null. */
export async function cautionOfPaths(
  judgement: CommandJudgement,
  environment: PathEnvironment,
): Promise<string | null> {
  const folders = foldersOf(judgement.parts, environment.folder);
  const uses = [
    ...judgement.writes.map((word): Use => ({ word, kind: 'write' })),
    ...judgement.reads.map((word): Use => ({ word, kind: 'look' })),
    ...judgement.parts.flatMap(usesOf),
  ];
  if (uses.length * folders.length > maxLookups) return 'The command names too many files to look at each.';
  for (const use of uses) {
    for (const folder of isAbsolute(use.word) || use.word.startsWith('~') ? folders.slice(0, 1) : folders) {
      const place = await findPlace(
        isAbsolute(use.word) || use.word.startsWith('~') ? use.word : `${folder}/${use.word}`,
        environment,
      );
      const why = objection(use, place) ?? (use.deep === true ? await holdsGuarded(place, environment) : null);
      if (why !== null)
        return `The command ${use.kind === 'write' ? 'writes to' : 'touches'} ${place.shown}, which ${why}.`;
    }
  }
  return null;
}

/** Each costs a few looks at the disk. */
const maxLookups = 2_000;

/**
 * `write`: the target of a redirection. `change`: named to a program that writes. `use`: to one of which we do not know what it does.
 * `look`: to one that only reads. `name`: to one that only lists or prints names.
 */
type Use = {
  word: string;
  kind: 'write' | 'change' | 'use' | 'look' | 'name';
  /** All that is below it is read, too. */
  deep?: boolean;
};

/** A folder outside the project, or a project around everything, that holds the person's home or Alcove's. */
async function holdsGuarded(place: Place, environment: PathEnvironment): Promise<string | null> {
  const person = environment.processEnvironment['HOME'];
  if (person !== undefined && isWithin((await findPlace(person, environment)).real, place.real)) {
    return 'holds the keys and passwords of your home';
  }
  if (place.area === 'project') return null;
  for (const home of environment.forbidden) {
    if (isWithin((await findPlace(home, environment)).real, place.real)) return "holds Alcove's own home";
  }
  return null;
}

function objection({ kind, word }: Use, place: Place): string | null {
  switch (place.area) {
    case 'home':
      return "is in Alcove's own home";
    case 'spills':
      return kind === 'look' || kind === 'name' ? null : "is in Alcove's own home";
    case 'repository':
      return kind === 'look' || kind === 'name' ? null : "is inside a repository's .git";
    case 'outside':
      if (harmlessDevice.test(place.real) && (!word.startsWith('/proc/') || ownDescriptor.test(word))) return null;
      if (kind === 'write' || kind === 'change') return 'is outside the project';
      return kind !== 'name' && place.guard?.when === 'always' ? place.guard.because : null;
    case 'project': {
      if (place.guard === null || kind === 'name') return null;
      return kind === 'look' && place.guard.when === 'change' ? null : place.guard.because;
    }
  }
}

/** `/dev/fd/N` and `/dev/stdout` are links into /proc of whoever looks. */
const harmlessDevice =
  /^\/(dev\/(null|zero|full|tty|stdin|stdout|stderr|urandom|random|fd\/\d+|pts\/\d+)|proc\/(self|\d+)\/fd\/.*)$/;

const ownDescriptor = /^\/proc\/self\/fd\/\d+$/;

/** The project, and each folder that a `cd` leads to from the one before. */
function foldersOf(parts: readonly string[][], start: string): string[] {
  const folders = [start];
  for (const [name, ...args] of parts) {
    if (name !== 'cd' && name !== 'pushd') continue;
    const target = args.find((text) => !text.startsWith('-')) ?? '~';
    const last = folders.at(-1) as string;
    folders.push(isAbsolute(target) || target.startsWith('~') ? target : `${last}/${target}`);
  }
  return folders;
}

function usesOf(part: string[]): Use[] {
  const [name = '', ...args] = part;
  const kind = kindOf(name, args);
  const texts = programText(name, args)?.at ?? [];
  const named = args.flatMap((text, at): Use[] => {
    if (texts.includes(at) || /^--?(exclude|include|ignore|not-)/.test(text)) return [];
    const value = withoutScheme(/^(?:-[A-Za-z]|--?[\w-]+=|[\w-]+=|@){0,2}(.+)$/s.exec(text)?.[1] ?? text);
    const counts = kind === 'change' ? !text.startsWith('-') || looksLikePath(value) : looksLikePath(value);
    return counts && isPath(value) ? [{ word: value, kind }] : [];
  });
  const written = outputsOf(name, args).filter(isPath);
  const searched = searchedBy(name, args).filter(isPath);
  return [
    ...named,
    ...written.map((word): Use => ({ word, kind: 'write' })),
    ...searched.map((word): Use => ({ word, kind: name === 'find' ? 'name' : 'look', deep: true })),
  ];
}

function isPath(text: string): boolean {
  return text.length <= maxPath && !isUrl.test(text);
}

/** `file://` is a path by another name. */
function withoutScheme(text: string): string {
  const path = /^file:\/*(?:localhost)?(\/.*)$/is.exec(text)?.[1];
  if (path === undefined) return text;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The folders that a program reads with all that is in them. */
function searchedBy(name: string, args: readonly string[]): string[] {
  if (name === 'git') return args.includes('--no-index') ? operands(args) : [];
  if (!searchers.test(name)) return [];
  if (name === 'zip' || name === 'cpio' || name === 'pax') return operands(args);
  if (/^[efz]?grep$/.test(name) && !hasOption(args, 'rR', '--recursive', '--dereference-recursive')) return [];
  if (name === 'diff' && !hasOption(args, 'r', '--recursive')) return [];
  if (name === 'find') {
    const end = args.findIndex((text) => /^(-[^HLPDO]|[(!])/.test(text));
    const folders = operands(end === -1 ? args : args.slice(0, end));
    return folders.length === 0 ? ['.'] : folders;
  }
  if (name === 'diff') return operands(args);
  const named = hasOption(args, 'ef', '--regexp', '--file', '--files') && !name.startsWith('fd');
  const folders = operands(args).slice(named ? 0 : 1);
  return folders.length === 0 ? ['.'] : folders;
}

const searchers = /^([efz]?grep|rg|ag|ack|find|fd|fdfind|diff|zip|cpio|pax)$/;

function operands(args: readonly string[]): string[] {
  return args.filter((text) => text !== '' && !text.startsWith('-'));
}

/** The longest path that Linux takes. */
const maxPath = 4096;
const isUrl = /^[a-z][a-z0-9+.-]*:\/\//;

/** Options, program texts and plain words are passed over; a bare name counts when it may be one that is guarded. To a program that writes, every word may be a file. */
function looksLikePath(text: string): boolean {
  if (/\s/.test(text) || text.startsWith('-')) return false;
  return (
    text.includes('/') ||
    /^[.~]/.test(text) ||
    /^(id_|_netrc|credentials|secrets\.|jenkinsfile)/i.test(text) ||
    /\.[A-Za-z0-9]+$/.test(text)
  );
}

const writers = new Set(
  'cp mv ln install mkdir touch tee rm rmdir unlink rsync scp truncate unzip tar patch split csplit mkfifo mknod chmod chown dd 7z 7za 7zr 7zz'.split(
    ' ',
  ),
);

function kindOf(name: string, args: readonly string[]): Use['kind'] {
  if (namesOnly.has(name)) return 'name';
  if (writers.has(name)) return 'change';
  if (/^g?sed$|^perl$/.test(name)) return editsInPlace(args) ? 'change' : 'look';
  return onlyLooks.has(name) || name === 'git' || name === 'awk' ? 'look' : 'use';
}
