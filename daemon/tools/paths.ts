/**
 * Where a path argument of a model really leads, and whether a tool may go there (TL29): inside the project freely; to protected places only
 * when a person says so, in every mode; into a repository's internals and Alcove's home never.
 *
 * The path is walked component by component as the kernel would, links of every kind included, also those that lead nowhere yet. `openPlace`
 * then opens what was judged and nothing else (PM17): a folder that was replaced by a link in between is noticed after the open, before a byte is read.
 */
import { constants } from 'node:fs';
import { open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { systemCode } from '../base/errors.ts';
import { lookAlike, type NameMatch } from './look-alike.ts';
import type { ToolEnvironment } from './tool.ts';

export interface Place {
  /** Absolute, without links; parts that do not exist are taken literally. */
  readonly real: string;
  /** The last part of the path is a link: what is done to the place does nothing to the link. */
  readonly isLink: boolean;
  /** For people and models: relative to the project where it is inside, else absolute. */
  readonly shown: string;
  readonly toRead: Standing;
  readonly toChange: Standing;
  readonly area: Area;
  /** What makes it delicate by its name, wherever it is: completes the sentence "<path> …". */
  readonly guard: { because: string; when: 'change' | 'always' } | null;
}

/** `home`: Alcove's. `repository`: the inside of a .git, anywhere. */
export type Area = 'project' | 'outside' | 'repository' | 'home' | 'spills';

/** `why` is a sentence that names the path. `asks`: in every mode. `refused`: in every mode. */
export type Standing = { kind: 'free' } | { kind: 'asks'; why: string } | { kind: 'refused'; why: string };

export type PathEnvironment = Pick<ToolEnvironment, 'folder' | 'forbidden' | 'spills' | 'processEnvironment'>;

export async function findPlace(
  given: string,
  environment: PathEnvironment,
  names: NameMatch = 'exact',
): Promise<Place> {
  const named = namedBy(given, environment);
  const { real, isLink } = await walk(named, names);
  const inside = isWithin(real, environment.folder);
  const shown = inside ? relative(environment.folder, real) || '.' : real;
  const area = await areaOf(real, environment, inside);
  const guard = guardOf(inside ? shown : real, basename(named));
  const { read, change } = verdictOf(area, guard);
  const standing = (verdict: Verdict): Standing =>
    verdict.kind === 'free' ? free : { kind: verdict.kind, why: `${shown} ${verdict.because}.` };
  return { real, isLink, shown, toRead: standing(read), toChange: standing(change), area, guard };
}

function namedBy(given: string, environment: PathEnvironment): string {
  const home = environment.processEnvironment['HOME'];
  const expanded = home !== undefined && /^~(?=\/|$)/.test(given) ? home + given.slice(1) : given;
  return isAbsolute(expanded) ? expanded : `${environment.folder}/${expanded}`;
}

/**
 * Which paths below a place that was judged (relative to it, no links among them) may be shown without a further question: what stands as the
 * place itself does, and is no secret. Nobody was asked about a key that happens to lie in the folder that is searched.
 */
export async function judgeBelow(place: Place, environment: PathEnvironment): Promise<(path: string) => boolean> {
  const spills = await realPathOf(environment.spills);
  const homes = await Promise.all(environment.forbidden.map(async (one) => (await realPathOf(one)).toLowerCase()));
  return (path) => {
    const real = join(place.real, path);
    if (place.area === 'spills') return isWithin(real, spills);
    const lower = real.toLowerCase();
    if (homes.some((home) => isWithin(lower, home)) || lower.split('/').includes('.git')) return false;
    const inside = place.area === 'project';
    const guard = guardOf(inside ? join(place.shown, path) : real, basename(path));
    return guard === null || guard.when === 'change' || guard === place.guard;
  };
}

export class PlaceMoved extends Error {
  override readonly name = 'PlaceMoved';
}

/** macOS can refuse links in every part of a path (O_NOFOLLOW_ANY, which Node has no name for); Linux in the last, and says where it went. */
const throughNoLink = process.platform === 'darwin' ? 0x2000_0000 : constants.O_NOFOLLOW;

/**
 * Opens the judged place itself. Throws PlaceMoved when something on the way was replaced meanwhile, and the system's error otherwise.
 * Never blocks on a FIFO or a device: look at the handle's `stat` before reading.
 */
export async function openPlace(real: string, flags: number): Promise<FileHandle> {
  const handle = await open(real, flags | throughNoLink | constants.O_NONBLOCK).catch(async (error: unknown) => {
    if (await wasLink(error, real))
      throw new PlaceMoved(`${real} was replaced by a link while it was being opened.`, { cause: error });
    throw error;
  });
  try {
    if (await isStill(handle, real)) return handle;
    throw new PlaceMoved(`A folder above ${real} was replaced while it was being opened.`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A link is refused as ELOOP, or as ENOTDIR where a folder was asked for. */
async function wasLink(error: unknown, real: string): Promise<boolean> {
  if (systemCode(error) === 'ELOOP') return true;
  if (systemCode(error) !== 'ENOTDIR') return false;
  return readlink(real).then(
    () => true,
    () => false,
  );
}

async function isStill(handle: FileHandle, real: string): Promise<boolean> {
  // The kernel's own name of what is open; a name with " (deleted)" differs as well, as it should.
  if (process.platform === 'linux') return (await readlink(`/proc/self/fd/${handle.fd}`)) === real;
  const [opened, named, resolved] = await Promise.all([handle.stat(), stat(real), realpath(real)]);
  return opened.dev === named.dev && opened.ino === named.ino && resolved.normalize() === real.normalize();
}

const maxLinks = 40; // the kernel's own limit

async function realPathOf(path: string): Promise<string> {
  return (await walk(path, 'exact')).real;
}

async function walk(path: string, names: NameMatch): Promise<Pick<Place, 'real' | 'isLink'>> {
  if (path.includes('\0')) return { real: path, isLink: false }; // no such path can be opened; it is judged as it stands
  const todo = partsOf(path);
  let real = '/';
  let isLink = false;
  let links = 0;
  while (todo.length > 0) {
    const part = todo.shift() as string;
    if (part === '..') {
      real = dirname(real);
      continue;
    }
    const next = join(real, part);
    const target = await targetOf(next);
    if (target === 'missing') {
      const other = await lookAlike(real, part, names);
      if (other === null || ++links > maxLinks) real = next;
      else todo.unshift(other);
      continue;
    }
    if (target === 'no link' || ++links > maxLinks) {
      real = next;
      continue;
    }
    isLink ||= todo.length === 0;
    if (isAbsolute(target.to)) real = '/';
    todo.unshift(...partsOf(target.to));
  }
  return { real, isLink };
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** What cannot be read is taken as it stands. */
async function targetOf(path: string): Promise<{ to: string } | 'no link' | 'missing'> {
  try {
    return { to: await readlink(path) };
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? 'missing' : 'no link';
  }
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Disks that ignore case would let `.GIT` through; comparing in lower case errs on the safe side everywhere. */
async function areaOf(real: string, environment: PathEnvironment, inside: boolean): Promise<Area> {
  if (isWithin(real, await realPathOf(environment.spills))) return 'spills';
  const lower = real.toLowerCase();
  for (const folder of environment.forbidden) {
    if (isWithin(lower, (await realPathOf(folder)).toLowerCase())) return 'home';
  }
  if (lower.split('/').includes('.git')) return 'repository';
  return inside ? 'project' : 'outside';
}

/** `because` completes the sentence "<path> …". */
type Verdict = { kind: 'free' } | { kind: 'asks' | 'refused'; because: string };

const free = { kind: 'free' } as const;
const homeRefused: Verdict = { kind: 'refused', because: "is in Alcove's own home, which no tool may touch" };
const repositoryRefused: Verdict = {
  kind: 'refused',
  because: "is inside a repository's .git, which only git itself may touch",
};
const outsideAsks: Verdict = { kind: 'asks', because: 'is outside the project' };

function verdictOf(area: Area, guard: Place['guard']): { read: Verdict; change: Verdict } {
  switch (area) {
    case 'spills':
      return { read: free, change: homeRefused };
    case 'home':
      return { read: homeRefused, change: homeRefused };
    case 'repository':
      return { read: repositoryRefused, change: repositoryRefused };
    case 'outside':
      return { read: outsideAsks, change: outsideAsks };
    case 'project': {
      if (guard === null) return { read: free, change: free };
      const asks: Verdict = { kind: 'asks', because: guard.because };
      return { read: guard.when === 'always' ? asks : free, change: asks };
    }
  }
}

function guardOf(path: string, nameBeforeLinks: string): Guard | null {
  const lower = path.toLowerCase();
  const names = [basename(lower), nameBeforeLinks.toLowerCase()];
  const guarded = (guard: Guard) =>
    names.some((name) => guard.names?.test(name) && !guard.except?.test(name)) || guard.folders?.test(`/${lower}/`);
  return guards.find(guarded) ?? null;
}

interface Guard {
  /** Matched against the last component, in lower case; of the path as given, too, since a link's own name tells as much. */
  names?: RegExp;
  /** Matched against the whole path with slashes on both ends. */
  folders?: RegExp;
  except?: RegExp;
  because: string;
  when: 'change' | 'always';
}

/** What asks in every mode although it is inside the project, and why. */
const guards: readonly Guard[] = [
  {
    names: /^\.env(\..*)?$/,
    except: /\.(example|sample|template|dist|defaults)$/,
    because: 'usually holds secrets of an environment',
    when: 'always',
  },
  { names: /^\.envrc$/, because: 'usually holds secrets, and direnv runs it', when: 'always' },
  {
    names: /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
    folders: /\/\.(ssh|gnupg)\//,
    because: 'holds private keys',
    when: 'always',
  },
  { names: /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/, because: 'may hold a private key', when: 'always' },
  {
    names:
      /^(\.npmrc|\.yarnrc|\.yarnrc\.yml|\.pypirc|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.htpasswd|\.vault-token)$/,
    because: 'usually holds passwords or tokens',
    when: 'always',
  },
  {
    names: /^(credentials|service-account.*\.json|secrets\.(json|ya?ml|toml))$/,
    folders: /\/(\.aws|\.azure|\.kube|\.docker|\.config\/(gh|gcloud))\//,
    because: 'usually holds credentials',
    when: 'always',
  },
  {
    names: /^\.(bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|inputrc)$/,
    because: 'is run by every shell that starts',
    when: 'change',
  },
  {
    names: /^(\.pre-commit-config\.yaml|lefthook\.ya?ml)$/,
    folders: /\/(\.husky|\.githooks)\//,
    because: 'is run by git on its own',
    when: 'change',
  },
  {
    names: /^(\.gitmodules|\.gitconfig|\.lfsconfig)$/,
    folders: /\/\.config\/git\//,
    because: 'decides what git fetches and runs',
    when: 'change',
  },
  {
    folders: /^\/\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|fd|fdinfo|map_files|auxv)\//,
    because: 'shows what another program holds, its secrets too',
    when: 'always',
  },
  {
    names: /^(\.gitlab-ci\.yml|jenkinsfile|\.travis\.yml|azure-pipelines\.yml)$/,
    folders: /\/\.(github\/(workflows|actions)|circleci|buildkite)\//,
    because: 'is run by the build server with its secrets',
    when: 'change',
  },
  {
    folders: /\/\.vscode\/(tasks|settings|launch)\.json\//,
    because: 'is run by the editor when the folder is opened',
    when: 'change',
  },
];
