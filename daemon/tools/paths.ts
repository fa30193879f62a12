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
import type { ToolEnvironment } from './tool.ts';

export interface Place {
  /** Absolute, without links; parts that do not exist are taken literally. */
  readonly real: string;
  /** For people and models: relative to the project where it is inside, else absolute. */
  readonly shown: string;
  readonly toRead: Standing;
  readonly toChange: Standing;
}

/** `why` is a sentence that names the path. `asks`: in every mode. `refused`: in every mode. */
export type Standing = { kind: 'free' } | { kind: 'asks'; why: string } | { kind: 'refused'; why: string };

export type PathEnvironment = Pick<ToolEnvironment, 'folder' | 'forbidden' | 'spills' | 'processEnvironment'>;

export async function findPlace(given: string, environment: PathEnvironment): Promise<Place> {
  const home = environment.processEnvironment['HOME'];
  const expanded = home !== undefined && /^~(?=\/|$)/.test(given) ? home + given.slice(1) : given;
  const walk = await walkPath(isAbsolute(expanded) ? expanded : `${environment.folder}/${expanded}`);
  const forbidden = await Promise.all(environment.forbidden.map(settled));
  const spills = await settled(environment.spills);
  const inside = isWithin(walk.real, environment.folder);
  const shown = inside ? relative(environment.folder, walk.real) || '.' : walk.real;
  const found = standingOf(walk, { inside, forbidden, spills, shown });
  const standing = (verdict: Verdict): Standing => (verdict.kind === 'free' ? free : { kind: verdict.kind, why: `${shown} ${verdict.because}.` });
  return { real: walk.real, shown, toRead: standing(found.read), toChange: standing(found.change) };
}

export class PlaceMoved extends Error {
  override readonly name = 'PlaceMoved';
}

/**
 * Opens the judged place itself. Throws PlaceMoved when something on the way was replaced meanwhile, and the system's error otherwise.
 * Never blocks on a FIFO or a device: look at the handle's `stat` before reading.
 */
export async function openPlace(real: string, flags: number): Promise<FileHandle> {
  const handle = await open(real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: unknown) => {
    if (systemCode(error) === 'ELOOP') throw new PlaceMoved(`${real} was replaced by a link while it was being opened.`, { cause: error });
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

async function isStill(handle: FileHandle, real: string): Promise<boolean> {
  // The kernel's own name of what is open; a name with " (deleted)" differs as well, as it should.
  if (process.platform === 'linux') return (await readlink(`/proc/self/fd/${handle.fd}`)) === real;
  const [opened, named, resolved] = await Promise.all([handle.stat(), stat(real), realpath(real)]);
  return opened.dev === named.dev && opened.ino === named.ino && resolved.normalize() === real.normalize();
}

interface Walk {
  real: string;
  /** The same path before links were followed: a link named `.env` is as telling as a file of that name. */
  named: string;
}

const maxLinks = 40; // the kernel's own limit

async function walkPath(path: string): Promise<Walk> {
  if (path.includes('\0')) return { real: path.replaceAll('\0', '\\0'), named: path };
  const todo = path.split('/');
  let real = '/';
  let links = 0;
  while (todo.length > 0) {
    const part = todo.shift() as string;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      real = dirname(real);
      continue;
    }
    const next = join(real, part);
    const target = await readlink(next).catch(() => null); // not a link, not there, or not readable: taken as it stands
    if (target === null || ++links > maxLinks) {
      real = next;
      continue;
    }
    if (isAbsolute(target)) real = '/';
    todo.unshift(...target.split('/'));
  }
  return { real, named: path };
}

async function settled(path: string): Promise<string> {
  return (await walkPath(path)).real;
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

const free = { kind: 'free' } as const;

/** `because` completes the sentence "<path> …". */
type Verdict = { kind: 'free' } | { kind: 'asks' | 'refused'; because: string };

/** Disks that ignore case would let `.GIT` through; comparing in lower case errs on the safe side everywhere. */
function standingOf(
  walk: Walk,
  facts: { inside: boolean; forbidden: string[]; spills: string; shown: string },
): { read: Verdict; change: Verdict } {
  const real = walk.real.toLowerCase();
  const home: Verdict = { kind: 'refused', because: "is in Alcove's own home, which no tool may touch" };
  if (isWithin(walk.real, facts.spills)) return { read: free, change: home };
  if (facts.forbidden.some((folder) => isWithin(real, folder.toLowerCase()))) return { read: home, change: home };
  if (real.split('/').includes('.git')) {
    const git: Verdict = { kind: 'refused', because: "is inside a repository's .git, which only git itself may touch" };
    return { read: git, change: git };
  }
  if (!facts.inside) {
    const outside: Verdict = { kind: 'asks', because: 'is outside the project' };
    return { read: outside, change: outside };
  }
  const guard = guardOf(facts.shown.toLowerCase(), basename(walk.named).toLowerCase());
  if (guard === null) return { read: free, change: free };
  const asks: Verdict = { kind: 'asks', because: guard.because };
  return { read: guard.when === 'always' ? asks : free, change: asks };
}

function guardOf(shown: string, nameBeforeLinks: string): Guard | null {
  const name = basename(shown);
  const guarded = (guard: Guard) =>
    [name, nameBeforeLinks].some((candidate) => guard.names?.test(candidate) && !guard.except?.test(candidate)) ||
    guard.folders?.test(`/${shown}/`);
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
  { names: /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/, folders: /\/\.(ssh|gnupg)\//, because: 'holds private keys', when: 'always' },
  { names: /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/, because: 'may hold a private key', when: 'always' },
  {
    names: /^(\.npmrc|\.yarnrc|\.yarnrc\.yml|\.pypirc|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.htpasswd|\.vault-token)$/,
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
