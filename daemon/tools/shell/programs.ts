/** What is known of programs by their name: which only look, which run what they are given, which steer others. */

export function programOf(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}

export function isDisk(path: string): boolean {
  return /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|r?disk|loop|mapper|md|dm-|mem|kmem|port)/.test(path);
}

/** A value of these can make any program load code or run another command. */
export function steersPrograms(name: string): boolean {
  if (/^(LD_|DYLD_|GIT_CONFIG|BASH_FUNC_|npm_config_)/.test(name)) return true;
  return steering.has(name);
}

const steering = new Set(
  (
    'PATH IFS HOME SHELL ENV BASH_ENV PROMPT_COMMAND SHELLOPTS BASHOPTS PS4 CDPATH NODE_OPTIONS PYTHONSTARTUP PYTHONPATH PYTHONHOME ' +
    'PERL5OPT PERL5LIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS PAGER MANPAGER LESSOPEN LESSCLOSE EDITOR VISUAL BROWSER ' +
    'GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_EXEC_PATH GIT_SSH GIT_SSH_COMMAND GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR ' +
    'GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND GIT_TEMPLATE_DIR MAKEFLAGS CC CXX RUSTC_WRAPPER'
  ).split(' '),
);

export const otherRights = new Set(['sudo', 'doas', 'su', 'pkexec', 'runuser', 'sudoedit', 'machinectl', 'run0']);
export const shells = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'fish', 'rbash', 'csh', 'tcsh']);
export const containers = new Set(['docker', 'podman', 'nerdctl', 'kubectl', 'docker-compose', 'lxc', 'oc']);
export const setsNamed = new Set(['read', 'mapfile', 'readarray', 'getopts', 'printf', 'unset', 'let', 'select']);
export const definesVariables = new Set(['export', 'declare', 'typeset', 'local', 'readonly']);
/** What xargs and find must not be given blindly. */
export const takesAway = new Set(['rm', 'rmdir', 'unlink', 'mv', 'kill', 'shred', 'truncate', 'chmod', 'chown', 'dd']);

/** Programs that cannot change anything by their arguments, so that a variable among these does no harm. */
export const onlyLooks: ReadonlySet<string> = new Set(
  (
    'echo printf true false : test [ pwd popd dirs ls cat head tail wc grep egrep fgrep zgrep rg ag ack cut tr comm ' +
    'diff cmp stat file basename dirname realpath readlink which type whereis date sleep seq expr nproc uname whoami id groups hostname ' +
    'uptime df du free ps pgrep lsof printenv jq column nl od hexdump strings sha1sum sha256sum sha512sum md5sum cksum b2sum base64 ' +
    'fold fmt rev tac paste join exit return wait jobs shift set unset export read let tput lsblk lscpu cal'
  ).split(' '),
);

/** Programs that only list or print names, without looking into what these stand for. */
export const namesOnly: ReadonlySet<string> = new Set(
  'echo printf ls stat test [ tree du which type basename dirname realpath readlink cd pushd file find'.split(' '),
);

export const editors = new Set(
  'vim vi view nvim gvim vimdiff nano pico emacs emacsclient micro joe mcedit hx ed red ex'.split(' '),
);

/** Alcove's command line, as it is installed or built. */
export function isOwnProgram(program: string, args: readonly string[]): boolean {
  if (/(^|\/)(alcove(@[^/]*)?|dist\/daemon\/main\.js)$/.test(program)) return true;
  if (!/^(node|nodejs|bun|deno|tsx)$/.test(programOf(program))) return false;
  return args.some((text) => /(^|\/)(dist\/daemon\/main\.js|daemon\/cli\/main\.ts|bin\/alcove)$/.test(text));
}

/** What a daemon answers on this machine and only paired devices may ask. */
export const ownDoor =
  /(^|[^\w.-])(localhost|127(\.\d+){1,3}|0(\.0){0,3}|\[::1?\]|\[::ffff:[^\]]+\]|[\w-]+\.localhost)(:[^/\s'"]*)?\/+(pair|rpc|ws|blobs)(?![\w-])/i;

/** Programs that run commands in ways that are not followed here. */
export const beyondReading = new Map<string, string>([
  ['eval', 'makes up a command while it runs (eval)'],
  ['trap', 'leaves commands to be run later (trap)'],
  ['parallel', 'runs a command on a list that is not known before it runs'],
  ['watch', 'repeats a command until it is ended'],
  ['ssh', 'runs on another machine'],
  ['mosh', 'runs on another machine'],
  ['expect', 'drives other programs by a script'],
  ['enable', 'changes what the shell itself does'],
  ['alias', 'changes what the shell itself does'],
  ['script', 'runs a command inside another'],
  ['screen', 'starts what outlives the command'],
  ['tmux', 'starts what outlives the command'],
  ['at', 'leaves commands to be run later'],
  ['batch', 'leaves commands to be run later'],
  ['systemd-run', 'leaves commands to be run elsewhere'],
  ['osascript', 'drives other programs by a script'],
  ['coproc', 'starts what outlives the command'],
  ...'flock strace ltrace gdb valgrind perf hyperfine entr xvfb-run taskset chrt numactl setpriv capsh prlimit rlwrap unbuffer socat firejail'
    .split(' ')
    .map((name): [string, string] => [name, `runs a command inside another (${name})`]),
  ['chroot', 'runs a command where all paths mean something else'],
  ['unshare', 'runs a command where all paths may mean something else'],
  ['nsenter', 'runs a command where all paths may mean something else'],
  ['bwrap', 'runs a command where all paths may mean something else'],
]);

/** Programs that take a program from their stdin when no other is named. */
export function runsItsInput(name: string, args: readonly string[]): boolean {
  if (/^(source|\.)$/.test(name))
    return args.some((text) => /^(-|\/dev\/(stdin|fd\/0)|\/proc\/self\/fd\/0)$/.test(text));
  if (!/^(python[\d.]*|pypy3?|node|nodejs|bun|deno|perl|ruby|php|lua|Rscript|osascript|tclsh)$/.test(name))
    return false;
  const own = args.filter((text) => text !== '-');
  if (own.length < args.length) return true;
  return !own.some(
    (text) => !text.startsWith('-') || /^-[A-Za-z]*[cemnprEV]/.test(text) || /^--(eval|print|version|help)/.test(text),
  );
}
