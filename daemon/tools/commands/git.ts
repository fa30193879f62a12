/**
 * `git`: looks at a repository, and does nothing else (TL14). Arguments are words of a program and pass no shell; nothing that a repository's
 * settings name is run: no external diff, text conversion, pager, hook or monitor; no index is written and nothing is fetched.
 */
import { maxLogEntries, searchMs } from '../../base/limits.ts';
import { ArgumentProblem, countArgument, flagArgument, pick, prepareWith, type Arguments } from '../arguments.ts';
import { findPlace } from '../paths.ts';
import { failed } from '../result.ts';
import type { Assessment, PreparedCall, Tool, ToolEnvironment, ToolResult } from '../tool.ts';
import { CommandOutput } from './command-output.ts';
import { outputText } from './output-text.ts';
import { runProgram } from './run-command.ts';

const actions = ['status', 'diff', 'log', 'show', 'blame', 'branch'] as const;
type Action = (typeof actions)[number];

export const gitTool: Tool = {
  name: 'git',
  description:
    'Looks at the git repository, without asking anybody: status, diff, log, show, blame, branch. Changes nothing; for that use bash.',
  parameters: {
    type: 'object',
    properties: {
      action: { enum: actions },
      revision: {
        type: 'string',
        description: 'diff, log, show, blame: a commit, branch, or range such as main..HEAD; show: also REV:PATH.',
      },
      paths: { type: 'array', items: { type: 'string' }, description: 'Only these files or folders; blame: one file.' },
      staged: { type: 'boolean', description: 'diff: what is staged.' },
      stat: { type: 'boolean', description: 'diff, log, show: files and counts only.' },
      count: { type: 'number', description: `log: so many commits, at most ${maxLogEntries}; 20 if left out.` },
      firstLine: { type: 'number' },
      lastLine: { type: 'number', description: 'blame: the lines of interest.' },
    },
    required: ['action'],
  },
  readOnly: true,
  ownDeadline: true,
  relevant: (_, { repository }) => repository,
  prepare: (args) => prepareWith(() => preparedGit(args)),
};

function preparedGit(args: Arguments): PreparedCall {
  const wanted = { action: actionIn(args), revision: revisionIn(args), paths: pathsIn(args) };
  const words = wordsOf(wanted, args);
  const target = [wanted.action, wanted.revision, ...wanted.paths].filter((word) => word !== null).join(' ');
  return {
    display: { title: 'Git', kind: 'search', target },
    assess: (environment) => assess(environment, target, [...wanted.paths, ...pathOfRevision(wanted.revision)]),
    execute: (environment, signal) => look(environment, words, signal),
  };
}

/** A secret is one in an old commit, too; and where a file lies counts, not that git reads it. */
async function assess(environment: ToolEnvironment, target: string, paths: readonly string[]): Promise<Assessment> {
  const reasons: string[] = [];
  for (const path of paths) {
    const { toRead } = await findPlace(path, environment);
    if (toRead.kind === 'refused') return { effect: 'refused', reason: toRead.why };
    if (toRead.kind === 'asks') reasons.push(toRead.why);
  }
  return { effect: 'read', caution: reasons.length === 0 ? null : reasons.join(' '), rulePattern: `git ${target}` };
}

/** In front of every action. Paths are names, not patterns; odd names are written as they are. */
const always = [
  '--no-pager',
  '--no-optional-locks',
  '--literal-pathspecs',
  ...['core.quotePath=false', 'core.fsmonitor=false', 'core.hooksPath=/dev/null', 'log.showSignature=false'].flatMap(
    (setting) => ['-c', setting],
  ),
];
const plainDiff = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=dirty'];
/** Objects that a partial clone lacks are not fetched. */
const variables = { GIT_NO_LAZY_FETCH: '1', GIT_OPTIONAL_LOCKS: '0' };

function wordsOf(
  { action, revision, paths }: { action: Action; revision: string | null; paths: readonly string[] },
  args: Arguments,
): string[] {
  const given = revision === null ? [] : [revision];
  const stat = flagArgument(pick(args, ['stat'])) ? ['--stat=120'] : [];
  const below = paths.length === 0 ? [] : ['--', ...paths];
  switch (action) {
    case 'status':
      return ['status', '--short', '--branch', '--ignore-submodules=dirty', ...below];
    case 'diff': {
      const staged = flagArgument(pick(args, ['staged', 'cached'])) ? ['--cached'] : [];
      return ['diff', ...plainDiff, ...staged, ...stat, ...given, '--', ...paths];
    }
    case 'log': {
      const count = Math.min(countArgument(args, 'count', 'how many commits are shown') ?? 20, maxLogEntries);
      const format = ['--format=%h %ad %an%d%n    %s', '--date=iso-strict', '--decorate=short'];
      return ['log', ...plainDiff, ...format, `--max-count=${count}`, ...stat, ...given, '--', ...paths];
    }
    case 'show':
      return ['show', ...plainDiff, ...stat, ...(given.length === 0 ? ['HEAD'] : given), ...below];
    case 'blame': {
      const [path, ...others] = paths;
      if (path === undefined || others.length > 0)
        throw new ArgumentProblem('blame needs "paths" with one file in it.');
      const first = countArgument(args, 'firstLine', 'the first line of interest') ?? 1;
      const last = countArgument(args, 'lastLine', 'the last line of interest');
      return ['blame', '--no-textconv', '--date=short', '-L', `${first},${last ?? ''}`, ...given, '--', path];
    }
    case 'branch':
      return ['branch', '--list', '--all', '--verbose', '--no-color', '--no-column'];
  }
}

async function look(environment: ToolEnvironment, words: readonly string[], signal: AbortSignal): Promise<ToolResult> {
  const git = async (args: readonly string[]) => {
    const output = await CommandOutput.in(environment);
    try {
      const end = await runProgram(environment, {
        program: 'git',
        args: [...always, ...args],
        variables,
        looks: true,
        timeLimitMs: searchMs,
        terminal: false,
        signal,
        onOutput: (piece) => output.push(piece),
      });
      return { end, text: outputText(output) };
    } finally {
      output.close();
    }
  };
  // Outside a repository `git diff` would compare any two files of the machine.
  const inside = await git(['rev-parse', '--is-inside-work-tree']);
  if (inside.end.exitCode !== 0 && !inside.end.aborted)
    return failed(
      inside.end.exitCode === 127 ? 'There is no git on this machine.' : 'This folder is in no git repository.',
    );
  const { end, text } = await git(words);
  if (end.timedOut) return failed(`${text}\n[Stopped after ${searchMs / 1000} s (searchMs): ask for less.]`.trim());
  if (end.exitCode !== 0) return failed(text === '' ? `git ended with exit code ${end.exitCode ?? 'unknown'}.` : text);
  return { outcome: 'completed', content: [{ type: 'text', text: text === '' ? '(nothing)' : text }] };
}

function actionIn(args: Arguments): Action {
  const value = pick(args, ['action', 'command', 'subcommand']);
  const found = actions.find((one) => one === value);
  if (found === undefined)
    throw new ArgumentProblem(`"action" is ${JSON.stringify(value)}; it can be ${actions.join(', ')}.`);
  return found;
}

/** What begins with a dash would be an option, and options can write files. */
function revisionIn(args: Arguments): string | null {
  const value = pick(args, ['revision', 'rev', 'ref', 'commit', 'range']);
  if (value === undefined || value === '') return null;
  if (typeof value !== 'string' || value.startsWith('-') || /[\0\n]/.test(value))
    throw new ArgumentProblem(`"revision" is ${JSON.stringify(value)}, but must name a commit, a branch or a range.`);
  return value;
}

function pathsIn(args: Arguments): string[] {
  const value = pick(args, ['paths', 'path', 'file', 'files']);
  if (value === undefined || value === '') return [];
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  for (const path of list)
    if (typeof path !== 'string' || path === '' || path.includes('\0'))
      throw new ArgumentProblem(`"paths" holds ${JSON.stringify(path)}, but must hold paths as strings.`);
  return list as string[];
}

function pathOfRevision(revision: string | null): string[] {
  const colon = revision?.indexOf(':') ?? -1;
  const path = colon === -1 ? '' : (revision as string).slice(colon + 1);
  return path === '' ? [] : [path];
}
