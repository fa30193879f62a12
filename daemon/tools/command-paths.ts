/**
 * Which delicate places a command names (TL29): what it writes by redirection, and words that lead into a repository's .git, Alcove's home,
 * secrets, or, for programs that write, out of the project. A word is looked up from every folder that the command may be in by then, since
 * `cd` is followed by reading only.
 */
import { isAbsolute } from 'node:path';
import { onlyLooks, type CommandJudgement } from './command-risk.ts';
import { findPlace, type PathEnvironment, type Place } from './paths.ts';

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
      const why = objection(use.kind, place);
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
type Use = { word: string; kind: 'write' | 'change' | 'use' | 'look' | 'name' };

function objection(kind: Use['kind'], place: Place): string | null {
  switch (place.area) {
    case 'home':
      return "is in Alcove's own home";
    case 'spills':
      return kind === 'look' || kind === 'name' ? null : "is in Alcove's own home";
    case 'repository':
      return kind === 'look' || kind === 'name' ? null : "is inside a repository's .git";
    case 'outside':
      if (harmlessDevice.test(place.real)) return null;
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
  return args.flatMap((text): Use[] => {
    if (/^--?(exclude|include|ignore|not-)/.test(text)) return [];
    const value = /^(?:-[A-Za-z]|--?[\w-]+=|[\w-]+=|@){0,2}(.+)$/s.exec(text)?.[1] ?? text;
    const counts = kind === 'change' ? !text.startsWith('-') || looksLikePath(value) : looksLikePath(value);
    return counts && value.length <= maxPath && !isUrl.test(value) ? [{ word: value, kind }] : [];
  });
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

const namesOnly = new Set(
  'echo printf ls stat test [ find tree du which type basename dirname realpath readlink cd pushd file'.split(' '),
);
const writers = new Set(
  'cp mv ln install mkdir touch tee rm rmdir unlink rsync scp truncate unzip tar patch split mkfifo mknod chmod chown dd'.split(
    ' ',
  ),
);

function kindOf(name: string, args: readonly string[]): Use['kind'] {
  if (namesOnly.has(name)) return 'name';
  if (writers.has(name)) return 'change';
  if (name === 'sed' || name === 'perl') return args.some((text) => /^-[A-Za-z]*i/.test(text)) ? 'change' : 'look';
  return onlyLooks.has(name) || name === 'git' || name === 'awk' ? 'look' : 'use';
}
