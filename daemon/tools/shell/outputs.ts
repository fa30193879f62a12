/**
 * Where a program writes by an option or by where it stands, also one that otherwise only reads: `sort -o F`, `git diff --output=F`,
 * `curl -O`. A folder counts as well as a file.
 */
import { gitCommand } from './git-risk.ts';

export function outputsOf(name: string, args: readonly string[]): string[] {
  if (name === 'git') return gitOutputs(args);
  const known = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
  const { letters, long, here, second } = known ?? others;
  const found = [
    ...valuesOf(args, letters, long),
    ...args.filter((_, at) => /^-(out|output|outfile|outdir|keyout)$/.test(args[at - 1] ?? '')),
  ];
  if (here?.(args, found) === true) found.push('.');
  if (second === true) found.push(...operands(args).slice(1, 2));
  return found;
}

interface Output {
  letters: string;
  long: readonly string[];
  /** Does it write into the folder it runs in? */
  here?: (args: readonly string[], found: readonly string[]) => boolean;
  /** Its second operand is what it writes. */
  second?: boolean;
}

const outputs: Readonly<Record<string, Output>> = {
  curl: {
    letters: 'oDc',
    long: [
      '--output',
      '--output-dir',
      '--dump-header',
      '--cookie-jar',
      '--trace',
      '--trace-ascii',
      '--stderr',
      '--libcurl',
      '--hsts',
      '--etag-save',
      '--alt-svc',
    ],
    here: (args) => args.some((text) => /^(-[A-Za-z#]*O|--remote-name)/.test(text)),
  },
  wget: {
    letters: 'OPoa',
    long: [
      '--output-document',
      '--directory-prefix',
      '--output-file',
      '--append-output',
      '--save-cookies',
      '--warc-file',
    ],
    here: (_, found) => found.length === 0,
  },
  sort: { letters: 'o', long: ['--output'] },
  shuf: { letters: 'o', long: ['--output'] },
  tree: { letters: 'o', long: [] },
  uniq: { letters: '', long: [], second: true },
  xxd: { letters: '', long: [], second: true },
  make: { letters: 'C', long: ['--directory'] },
  ninja: { letters: 'C', long: [] },
  npm: { letters: 'C', long: ['--prefix'] },
  pnpm: { letters: 'C', long: ['--dir'] },
  yarn: { letters: '', long: ['--cwd'] },
  bun: { letters: '', long: ['--cwd'] },
  cargo: { letters: 'C', long: ['--target-dir', '--out-dir', '--root'] },
  // Their -o is no file, and nothing else of them writes.
  ...Object.fromEntries(
    'grep egrep fgrep zgrep rg ag ack ps set od lsof find ls ssh mount jq awk gawk mawk nawk bash sh zsh test [ id column strings readlink join comm pytest'
      .split(' ')
      .map((program) => [program, { letters: '', long: [] }]),
  ),
};

const others: Output = {
  letters: 'o',
  long: [
    '--output',
    '--output-file',
    '--output-dir',
    '--output-directory',
    '--out',
    '--out-file',
    '--outfile',
    '--out-dir',
    '--outdir',
    '--outDir',
    '--outFile',
    '--dest',
    '--destination',
  ],
};

/** Values of options, in the same word or the next. A letter may stand among others that take none. */
function valuesOf(args: readonly string[], letters: string, long: readonly string[]): string[] {
  const found: string[] = [];
  for (const [at, text] of args.entries()) {
    if (text === '--') break;
    const next = args[at + 1];
    if (text.startsWith('--')) {
      const [name = '', ...rest] = text.split('=');
      if (name.length < 4 || !long.some((one) => one === name || (name.length > 5 && one.startsWith(name)))) continue;
      if (rest.length > 0) found.push(rest.join('='));
      else if (next !== undefined) found.push(next);
    } else if (letters !== '' && text.startsWith('-')) {
      const where = [...text].findIndex((letter, index) => index > 0 && letters.includes(letter));
      if (where === -1 || !/^[A-Za-z0-9#]*$/.test(text.slice(1, where))) continue;
      const attached = text.slice(where + 1).replace(/^=/, '');
      if (attached !== '') found.push(attached);
      else if (next !== undefined) found.push(next);
    }
  }
  return found.filter((value) => value !== '' && value !== '-');
}

const operands = (args: readonly string[]) => args.filter((text) => !text.startsWith('-'));

/** git verbs that only look, whatever their operands; any other changes the repository it is called in. */
const gitLooks = new Set(
  (
    'status log show diff blame annotate grep ls-files ls-tree ls-remote rev-parse rev-list cat-file describe shortlog reflog remote config ' +
    'branch name-rev merge-base show-ref for-each-ref for-each-repo count-objects check-ignore check-attr whatchanged range-diff diff-tree ' +
    'diff-index diff-files cherry var version help archive format-patch bundle clone init rev-list verify-commit verify-tag fsck'
  ).split(' '),
);

function gitOutputs(args: readonly string[]): string[] {
  const { folder, verb, rest } = gitCommand(args);
  if (verb === undefined) return [];
  const found = gitFiles(verb, rest);
  if (!gitLooks.has(verb)) found.push('.');
  return found.map((path) => (folder === null || /^[/~]/.test(path) ? path : `${folder}/${path}`));
}

function gitFiles(verb: string, rest: readonly string[]): string[] {
  const names = operands(rest);
  switch (verb) {
    case 'archive':
      return valuesOf(rest, 'o', ['--output']);
    case 'format-patch':
      return valuesOf(rest, 'o', ['--output-directory', '--output']);
    case 'bugreport':
    case 'diagnose':
    case 'mailsplit':
      return valuesOf(rest, 'o', ['--output-directory']);
    case 'clone':
      return [...valuesOf(rest, '', ['--separate-git-dir']), cloneTarget(rest)];
    case 'init':
      return [...valuesOf(rest, '', ['--separate-git-dir']), names.at(-1) ?? '.'];
    case 'worktree':
      return names[0] === 'add' || names[0] === 'move'
        ? names.slice(1).filter((name) => /^[.~]{0,2}\//.test(name) || name === '..')
        : [];
    case 'bundle':
      return names[0] === 'create' ? names.slice(1, 2) : [];
    case 'checkout-index':
      return valuesOf(rest, '', ['--prefix']);
    case 'fast-export':
      return valuesOf(rest, '', ['--export-marks']);
    default:
      return valuesOf(rest, '', ['--output']);
  }
}

/** The word after the address; without one, a new folder in this one. */
function cloneTarget(rest: readonly string[]): string {
  const names = rest.filter(
    (text, at) =>
      !text.startsWith('-') &&
      !/^(-[bocuj]|--(branch|origin|config|upload-pack|depth|reference|template|jobs|filter|separate-git-dir|shallow-since|shallow-exclude))$/.test(
        rest[at - 1] ?? '',
      ),
  );
  return names[1] ?? '.';
}
