/** What a git command may throw away or change for others. Read-only and ordinary work (add, commit, fetch, plain push) passes. */
import { hasOption, type Risk } from './option.ts';

/** `args`: everything after `git`. */
export function gitRisk(args: readonly string[]): Risk {
  let at = 0;
  for (; at < args.length && (args[at] as string).startsWith('-'); at++) {
    const option = args[at] as string;
    if (option === '-c' || option === '--config-env') {
      if (
        !/^(user\.|author\.|committer\.|color\.|advice\.|core\.quotepath=|init\.defaultbranch=|commit\.gpgsign=)/i.test(
          args[at + 1] ?? '',
        )
      ) {
        return { unclear: 'sets a configuration of git that may run other programs' };
      }
      at++;
    } else if (/^--(exec-path|config-env)=/.test(option)) return { unclear: 'changes which programs git runs' };
    else if (/^(-C|--git-dir|--work-tree|--namespace|--super-prefix)$/.test(option)) at++;
  }
  const verb = args[at];
  if (verb === undefined) return null;
  const rest = args.slice(at + 1);
  const risk = Object.hasOwn(risks, verb) ? risks[verb]?.(rest) : undefined;
  return typeof risk === 'string' ? { destructive: `${risk} (git ${verb})` } : (risk ?? null);
}

/** The folder that -C leads to (null: none), the verb and what follows it. */
export function gitCommand(args: readonly string[]): {
  folder: string | null;
  verb: string | undefined;
  rest: string[];
} {
  let folder: string | null = null;
  let at = 0;
  for (; at < args.length && (args[at] as string).startsWith('-'); at++) {
    const option = args[at] as string;
    if (!/^(-C|-c|--config-env|--git-dir|--work-tree|--namespace|--super-prefix)$/.test(option)) {
      const tree = /^--work-tree=(.+)$/s.exec(option)?.[1];
      if (tree !== undefined) folder = below(folder, tree);
      continue;
    }
    const value = args[++at];
    if (value !== undefined && (option === '-C' || option === '--work-tree')) folder = below(folder, value);
  }
  return { folder, verb: args[at], rest: args.slice(at + 1) };
}

function below(folder: string | null, path: string): string {
  return folder === null || /^[/~]/.test(path) ? path : `${folder}/${path}`;
}

type Judge = (args: readonly string[]) => string | Risk;

const operands = (args: readonly string[]) => args.filter((text) => !text.startsWith('-'));
const unclear = (reason: string): Risk => ({ unclear: reason });

const risks: Readonly<Record<string, Judge>> = {
  push: (args) => {
    if (hasOption(args, 'f', '--force', '--force-with-lease', '--mirror', '--prune'))
      return 'overwrites what others have pushed';
    if (hasOption(args, 'd', '--delete')) return 'deletes at the remote';
    if (hasOption(args, '', '--receive-pack', '--exec')) return unclear('changes which programs git runs');
    return operands(args).some((text) => /^[+:]/.test(text)) ? 'overwrites or deletes at the remote' : null;
  },
  reset: (args) => (hasOption(args, '', '--hard', '--merge', '--keep') ? 'throws away changes' : null),
  clean: (args) =>
    hasOption(args, 'n', '--dry-run')
      ? null
      : hasOption(args, 'fxX', '--force')
        ? 'deletes files that git does not know'
        : null,
  checkout: (args) => {
    if (hasOption(args, 'fB', '--force', '--pathspec-from-file')) return 'throws away changes';
    const dashes = args.indexOf('--');
    if (dashes !== -1) return dashes + 1 < args.length ? 'throws away changes' : null;
    if (hasOption(args, 'b', '--orphan', '--track', '--detach')) return null;
    const names = operands(args);
    const isPath = names.some((text) => text === '.' || /[*?]|\/$|^\.{1,2}\/|^:|\.[A-Za-z]{1,5}$/.test(text));
    return isPath || names.length > 1 ? 'may throw away changes' : null;
  },
  restore: (args) =>
    hasOption(args, 'S', '--staged') && !hasOption(args, 'W', '--worktree') ? null : 'throws away changes',
  switch: (args) =>
    hasOption(args, 'fC', '--force', '--discard-changes', '--force-create') ? 'throws away changes' : null,
  branch: (args) => {
    if (hasOption(args, 'DMC', '--force')) return 'deletes or overwrites a branch';
    return hasOption(args, 'f') ? 'overwrites a branch' : null;
  },
  tag: (args) => (hasOption(args, 'df', '--delete', '--force') ? 'deletes or moves a tag' : null),
  stash: (args) => (/^(drop|clear)$/.test(operands(args)[0] ?? '') ? 'throws away stashed changes' : null),
  rm: (args) => (hasOption(args, '', '--cached') ? null : hasOption(args, 'rf', '--force') ? 'deletes files' : null),
  rebase: (args) => (hasOption(args, 'x', '--exec') ? unclear('runs commands inside a rebase') : null),
  bisect: (args) => (args[0] === 'run' ? unclear('runs a command inside bisect') : null),
  submodule: (args) => {
    if (args.includes('foreach')) return unclear('runs a command in every submodule');
    return args.includes('deinit') ? 'deletes files of a submodule' : null;
  },
  worktree: (args) => (/^(remove|prune)$/.test(operands(args)[0] ?? '') ? 'deletes a working tree' : null),
  reflog: (args) => (/^(expire|delete)$/.test(operands(args)[0] ?? '') ? 'deletes what git would restore from' : null),
  gc: (args) => (hasOption(args, '', '--prune', '--aggressive') ? 'deletes what git would restore from' : null),
  prune: () => 'deletes what git would restore from',
  'update-ref': () => 'moves or deletes a ref without a check',
  'symbolic-ref': (args) => (operands(args).length > 1 || hasOption(args, 'd') ? 'moves a ref without a check' : null),
  'filter-branch': () => 'rewrites the history',
  'filter-repo': () => 'rewrites the history',
  replace: () => 'rewrites the history',
  remote: (args) =>
    /^(remove|rm|prune|set-url)$/.test(operands(args)[0] ?? '') ? 'changes where this repository pushes to' : null,
  difftool: () => unclear('runs a program of the configuration'),
  mergetool: () => unclear('runs a program of the configuration'),
  clone: (args) =>
    hasOption(args, 'cu', '--config', '--upload-pack', '--template') || args.some((text) => /^ext::/.test(text))
      ? unclear('changes which programs git runs')
      : null,
  fetch: (args) => (hasOption(args, '', '--upload-pack') ? unclear('changes which programs git runs') : null),
  init: (args) => (hasOption(args, '', '--template') ? unclear('changes which programs git runs') : null),
  grep: (args) =>
    hasOption(args, 'O', '--open-files-in-pager') ? unclear('runs a program of the configuration') : null,
  config: configRisk,
};

/** Reading passes; what is written may later run programs (aliases, hooks, filters), or reaches beyond this repository. */
function configRisk(args: readonly string[]): string | Risk {
  if (hasOption(args, 'l', '--list', '--get', '--get-all', '--get-regexp', '--get-urlmatch')) return null;
  const names = operands(args);
  if (/^(list|get)$/.test(names[0] ?? '')) return null;
  if (hasOption(args, 'e', '--edit', '--global', '--system', '--file', '--unset', '--remove-section'))
    return 'changes the configuration of git';
  if (names.length < 2) return null;
  return /^(user\.(name|email)|color\.|advice\.|pull\.|push\.default|branch\.)/i.test(names[0] as string)
    ? null
    : 'changes the configuration of git';
}
