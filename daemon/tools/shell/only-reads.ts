/**
 * Whether one simple command can change nothing, whatever it is given: what plan mode runs (PM1). A list of what is known to be so, by program and
 * option; everything else is taken for what changes something. Redirections, assignments and substitutions are judged elsewhere.
 */
import { gitCommand } from './git-risk.ts';
import { hasOption } from './option.ts';
import { outputsOf } from './outputs.ts';
import { editsInPlace, programText } from './program-texts.ts';
import { onlyLooks } from './programs.ts';

/** The words of a command that was understood, wrappers taken off. */
export function onlyReads(part: readonly string[]): boolean {
  const [name = '', ...args] = part;
  if (outputsOf(name, args).length > 0) return false;
  if (name === 'git') return gitReads(args);
  const own = Object.hasOwn(others, name) ? others[name] : undefined;
  if (own !== undefined) return own(args);
  return onlyLooks.has(name);
}

const always = () => true;

/** Programs beyond those that only look by their nature. */
const others: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  cd: always,
  tree: (args) => !hasOption(args, 'o', '--output'),
  // `-exec`, `-delete` and those that write files are judged to be destructive before.
  find: (args) => !args.some((text) => /^-(exec|ok|delete|fprint|fls)/.test(text)),
  fd: (args) => !hasOption(args, 'xX', '--exec', '--exec-batch'),
  fdfind: (args) => !hasOption(args, 'xX', '--exec', '--exec-batch'),
  sort: (args) => !hasOption(args, 'oT', '--output', '--compress-program', '--temporary-directory'),
  sed: sedReads,
  gsed: sedReads,
  // A second operand of uniq is written to.
  uniq: (args) => args.filter((text) => !text.startsWith('-')).length <= 1,
  date: (args) => !hasOption(args, 's', '--set'),
  hostname: (args) => args.every((text) => text.startsWith('-')),
  env: (args) => args.length === 0,
  xxd: (args) => !hasOption(args, 'r') && args.filter((text) => !text.startsWith('-')).length <= 1,
  node: versionOnly,
  npm: (args) => versionOnly(args) || /^(ls|list|view|outdated|explain|why)$/.test(args[0] ?? ''),
  python: versionOnly,
  python3: versionOnly,
  cargo: (args) => versionOnly(args) || /^(tree|metadata)$/.test(args[0] ?? ''),
  go: (args) => /^(version|list)$/.test(args[0] ?? ''),
};

function versionOnly(args: readonly string[]): boolean {
  return args.length === 1 && /^(-v|-V|--version)$/.test(args[0] ?? '');
}

function sedReads(args: readonly string[]): boolean {
  const text = programText('sed', args);
  return !editsInPlace(args) && text !== null && text.writes.length === 0 && text.unclear === null;
}

function gitReads(args: readonly string[]): boolean {
  // Options before the verb may name other folders, configurations and programs.
  const first = args.findIndex((text) => !text.startsWith('-'));
  if (args.slice(0, first).some((text) => !/^--(no-pager|no-optional-locks|literal-pathspecs)$/.test(text)))
    return false;
  const { verb = '', rest } = gitCommand(args);
  const reads = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (reads === undefined) return false;
  return reads(rest) && !hasOption(rest, '', '--output', '--ext-diff', '--textconv', '--open-files-in-pager');
}

const operands = (args: readonly string[]) => args.filter((text) => !text.startsWith('-'));
const lists = (args: readonly string[]) =>
  operands(args).length === 0 &&
  !hasOption(
    args,
    'dDmMcCfu',
    '--delete',
    '--move',
    '--copy',
    '--force',
    '--edit-description',
    '--set-upstream-to',
    '--unset-upstream',
  );

const verbs: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  status: always,
  log: always,
  diff: always,
  show: always,
  blame: always,
  annotate: always,
  shortlog: always,
  describe: always,
  'rev-parse': always,
  'rev-list': always,
  'ls-files': always,
  'ls-tree': always,
  'cat-file': always,
  'merge-base': always,
  'name-rev': always,
  'for-each-ref': always,
  'show-ref': always,
  'diff-tree': always,
  'check-ignore': always,
  'count-objects': always,
  grep: (args) => !hasOption(args, 'O', '--open-files-in-pager'),
  version: always,
  branch: lists,
  tag: lists,
  remote: (args) => operands(args).length === 0 || /^(show|get-url)$/.test(operands(args)[0] ?? ''),
  stash: (args) => /^(list|show)$/.test(args[0] ?? ''),
  worktree: (args) => args[0] === 'list',
  reflog: (args) => args.length === 0 || args[0] === 'show',
  config: (args) =>
    hasOption(args, 'l', '--list', '--get', '--get-all', '--get-regexp') || /^(get|list)$/.test(args[0] ?? ''),
};
