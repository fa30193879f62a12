/**
 * What a shell command may destroy, judged by reading it (PM3). Conservative on both sides: a command that cannot be followed to its end is
 * `unclear`, and whoever decides asks in every mode for either. It guards against accidents, not against a program that hides what it does:
 * what a script file or a build does is not looked into; code among the arguments is.
 *
 * Wrappers (`env X=1`, `timeout 5`, `nohup`, `xargs`) are judged by what they run, `sh -c` by its script. `parts` are the simple commands
 * after that, for rules that must allow each of them.
 */
import { patternRisk } from './command-globs.ts';
import { programText } from './command-programs.ts';
import { gitRisk } from './git-risk.ts';
import { hasOption, type Risk } from './option.ts';
import { parseShell, type SimpleCommand, type Word } from './shell-words.ts';

export interface CommandJudgement {
  /** What it would destroy or take over, completing "the command …"; null where nothing of that was found. */
  readonly destructive: string | null;
  /** Why it could not be followed, completing "the command …"; null where it was understood. */
  readonly unclear: string | null;
  /** Each simple command with its words, wrappers taken off. */
  readonly parts: string[][];
  /** Files that redirections and sed scripts write. */
  readonly writes: string[];
  /** Files that redirections and program texts read. */
  readonly reads: string[];
}

export function judge(command: string): CommandJudgement {
  const court = new Court();
  court.judge(command, 0);
  return {
    destructive: court.destructive,
    unclear: court.unclear,
    parts: court.parts,
    writes: court.writes,
    reads: court.reads,
  };
}

/** A script within a script within …: nobody honest nests deeper. */
const maxDepth = 4;

type Input = SimpleCommand['input'];

class Court {
  destructive: string | null = null;
  unclear: string | null = null;
  readonly parts: string[][] = [];
  readonly writes: string[] = [];
  readonly reads: string[] = [];

  judge(source: string, depth: number): void {
    if (depth > maxDepth) return this.#unclear('nests too many commands in each other');
    if (/:\s*\(\s*\)\s*\{/.test(source)) this.#destructive('defines a fork bomb');
    const { commands, problem } = parseShell(source);
    if (problem !== null) this.#unclear(problem);
    for (const command of commands) this.#command(command, depth);
  }

  #destructive(reason: string): void {
    this.destructive ??= reason;
  }

  #unclear(reason: string): void {
    this.unclear ??= reason;
  }

  #take(risk: Risk): void {
    if (risk?.destructive !== undefined) this.#destructive(risk.destructive);
    if (risk?.unclear !== undefined) this.#unclear(risk.unclear);
  }

  #command(command: SimpleCommand, depth: number): void {
    for (const { name } of command.assignments) this.#assignment(name);
    for (const target of command.writes) {
      if (target.variable || target.pattern) this.#unclear('writes to a file whose name is not known before it runs');
      if (isDisk(target.text)) this.#destructive(`writes to the device ${target.text}`);
      this.writes.push(target.text);
    }
    this.reads.push(...command.reads.map((target) => target.text));
    for (const target of [...command.writes, ...command.reads]) {
      if (target.pattern) this.#pattern(target.text);
      if (/^\/dev\/(tcp|udp)\//.test(target.text)) this.#unclear('talks to the network by a redirection');
    }
    this.#words(command.words, command.input, depth);
  }

  #pattern(text: string): void {
    const risk = patternRisk(text);
    if (risk !== null) this.#unclear(risk);
  }

  /** What a program is told by a text in its own language. */
  #text(name: string, args: readonly string[]): void {
    const text = programText(name, args);
    if (text === null) return;
    this.writes.push(...text.writes);
    this.reads.push(...text.reads);
    if (text.unclear !== null) this.#unclear(text.unclear);
  }

  #assignment(name: string): void {
    if (steersPrograms(name)) this.#unclear(`sets ${name}, which changes what other programs do`);
  }

  /** The command that these words run. `more`: further words come from elsewhere (xargs, find). */
  #words(words: readonly Word[], input: Input, depth: number, more = false): void {
    const [first, ...rest] = words;
    if (first === undefined) return;
    if (first.variable || first.splits || (first.pattern && first.text !== '[')) {
      return this.#unclear('runs a program whose name is not known before it runs');
    }
    const name = programOf(first.text);
    const texts = rest.map((word) => word.text);
    if (isOwnProgram(first.text, texts)) this.#destructive('drives Alcove itself');
    if (texts.some((text) => ownDoor.test(text))) this.#destructive("uses Alcove's own door");
    if (!namesOnly.has(name)) {
      for (const word of rest) if (word.pattern) this.#pattern(word.text);
    }
    if (otherRights.has(name)) this.#destructive(`runs with the rights of another user (${name})`);
    const wrapped = unwrap(name, rest);
    if (wrapped === 'unknown') return this.#unclear(`uses an option of ${name} that is not known here`);
    if (wrapped !== null) {
      for (const assigned of wrapped.assignments) this.#assignment(assigned);
      if (wrapped.folder !== null) this.parts.push(['cd', wrapped.folder]);
      if (wrapped.inner.length === 0) {
        this.parts.push([name, ...texts]);
        return;
      }
      const feeds = name === 'xargs';
      if (feeds) this.reads.push(...listsOf(texts));
      return this.#words(wrapped.inner, feeds ? 'other' : input, depth, more || feeds);
    }
    if (shells.has(name)) return this.#shell(name, rest, input, depth);
    this.parts.push([name, ...texts]);
    if (more && takesAway.has(name)) this.#destructive(`runs ${name} on a list that is not known before it runs`);
    if (editors.has(name) && !texts.some((text) => /^(-h|-v|--help|--version)$/.test(text)))
      return this.#unclear(`waits for a keyboard, or edits by commands that are not read here (${name})`);
    if (beyondReading.has(name)) return this.#unclear(beyondReading.get(name) as string);
    if (name === 'find') this.#find(rest, depth);
    if (containers.has(name)) this.#container(name, rest, depth);
    if (input === 'pipe' && runsItsInput(name, texts)) this.#destructive(`runs what it reads from a pipe (${name})`);
    if (input === 'text' && runsItsInput(name, texts)) this.#unclear(`runs code that is given as text (${name})`);
    this.#text(name, texts);
    if (definesVariables.has(name)) {
      for (const text of texts) {
        const assigned = /^([A-Za-z_]\w*)\+?=/.exec(text)?.[1];
        if (assigned !== undefined) this.#assignment(assigned);
      }
    }
    if (!onlyLooks.has(name)) {
      const unknown = rest.find((word) => word.splits);
      if (unknown !== undefined) this.#unclear(`depends on ${unknown.text}, whose value is not known before it runs`);
      const disk = texts.find((text) => isDisk(text.replace(/^of=/, '')));
      if (disk !== undefined) this.#destructive(`touches the device ${disk.replace(/^of=/, '')}`);
    }
    this.#take(name === 'git' ? gitRisk(texts) : tableRisk(name, rest));
  }

  #shell(name: string, rest: readonly Word[], input: Input, depth: number): void {
    const texts = rest.map((word) => word.text);
    let at = 0;
    while (at < rest.length && /^[-+]/.test(texts[at] as string)) {
      const text = texts[at] as string;
      if (text === '--') {
        at++;
        break;
      }
      if (/^-[A-Za-z]*c[A-Za-z]*$/.test(text)) {
        const script = rest.slice(at + 1).find((word) => !word.text.startsWith('-'));
        if (script === undefined) return this.#unclear(`gives ${name} no command to run`);
        if (script.variable || script.splits || script.pattern)
          return this.#unclear(`makes up the command for ${name} while it runs`);
        return this.judge(script.text, depth + 1);
      }
      if (text === '-s') return this.#fedShell(name, input);
      at += text === '-o' || text === '+o' || text === '-O' || text === '--rcfile' || text === '--init-file' ? 2 : 1;
    }
    const script = rest[at];
    if (script === undefined) {
      if (texts.some((text) => text === '--version' || text === '--help')) return;
      return this.#fedShell(name, input);
    }
    this.parts.push([name, ...texts]);
    if (/^(-|\/dev\/(stdin|fd\/0)|\/proc\/self\/fd\/0)$/.test(script.text)) return this.#fedShell(name, input);
    if (rest.some((word) => word.splits))
      this.#unclear(`depends on a variable whose value is not known before it runs`);
  }

  #fedShell(name: string, input: Input): void {
    if (input === 'pipe') this.#destructive(`runs what it reads from a pipe (${name})`);
    else this.#unclear(`starts ${name} without saying what it runs`);
  }

  #find(rest: readonly Word[], depth: number): void {
    for (const [index, word] of rest.entries()) {
      if (word.text === '-delete') this.#destructive('deletes what find finds');
      if (/^-(fprint0?|fprintf|fls)$/.test(word.text)) this.#destructive('lets find write files');
      if (!/^-(exec|execdir|ok|okdir)$/.test(word.text)) continue;
      const inner = rest.slice(index + 1);
      const end = inner.findIndex((part) => part.text === ';' || part.text === '+');
      const words = end === -1 ? inner : inner.slice(0, end);
      const program = programOf(words[0]?.text ?? '');
      if (onlyLooks.has(program)) this.parts.push(words.map((part) => part.text));
      else this.#destructive(`runs ${program || 'a program'} on everything find finds`);
      if (!onlyLooks.has(program)) this.#words(words, 'other', depth, true);
    }
  }

  /** `docker exec NAME rm -rf /x`: where the inner command begins depends on many options, so each word is tried. */
  #container(name: string, rest: readonly Word[], depth: number): void {
    if (!rest.some((word) => word.text === 'exec' || word.text === 'run')) return;
    for (const [index, word] of rest.entries()) {
      if (index === 0 || word.text.startsWith('-')) continue;
      const inner = new Court();
      if (shells.has(programOf(word.text))) inner.#shell(word.text, rest.slice(index + 1), 'text', depth + 1);
      else if (word.text !== name) inner.#take(tableRisk(programOf(word.text), rest.slice(index + 1)));
      if (inner.destructive !== null) this.#destructive(`${inner.destructive}, in a container`);
    }
  }
}

function programOf(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}

function isDisk(path: string): boolean {
  return /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|r?disk|loop|mapper|md|dm-|mem|kmem|port)/.test(path);
}

/** A value of these can make any program load code or run another command. */
function steersPrograms(name: string): boolean {
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

const otherRights = new Set(['sudo', 'doas', 'su', 'pkexec', 'runuser', 'sudoedit', 'machinectl', 'run0']);
const shells = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'fish', 'rbash', 'csh', 'tcsh']);
const containers = new Set(['docker', 'podman', 'nerdctl', 'kubectl', 'docker-compose', 'lxc', 'oc']);
const definesVariables = new Set(['export', 'declare', 'typeset', 'local', 'readonly']);
/** What xargs and find must not be given blindly. */
const takesAway = new Set(['rm', 'rmdir', 'unlink', 'mv', 'kill', 'shred', 'truncate', 'chmod', 'chown', 'dd']);

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

const editors = new Set(
  'vim vi view nvim gvim vimdiff nano pico emacs emacsclient micro joe mcedit hx ed red ex'.split(' '),
);

/** Alcove's command line, as it is installed or built. */
function isOwnProgram(program: string, args: readonly string[]): boolean {
  if (/(^|\/)(alcove(@[^/]*)?|dist\/daemon\/main\.js)$/.test(program)) return true;
  if (!/^(node|nodejs|bun|deno|tsx)$/.test(programOf(program))) return false;
  return args.some((text) => /(^|\/)(dist\/daemon\/main\.js|daemon\/cli\/main\.ts|bin\/alcove)$/.test(text));
}

/** What a daemon answers on this machine and only paired devices may ask. */
const ownDoor =
  /(^|[^\w.-])(localhost|127(\.\d+){1,3}|0(\.0){0,3}|\[::1?\]|\[::ffff:[^\]]+\]|[\w-]+\.localhost)(:[^/\s'"]*)?\/+(pair|rpc|ws|blobs)(?![\w-])/i;

/** Programs that run commands in ways that are not followed here. */
const beyondReading = new Map<string, string>([
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
  ['chroot', 'runs a command where all paths mean something else'],
  ['unshare', 'runs a command where all paths may mean something else'],
  ['nsenter', 'runs a command where all paths may mean something else'],
  ['bwrap', 'runs a command where all paths may mean something else'],
]);

/** Programs that take a program from their stdin when no other is named. */
function runsItsInput(name: string, args: readonly string[]): boolean {
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

interface Wrapped {
  inner: readonly Word[];
  assignments: string[];
  /** Where `env -C` runs it. */
  folder: string | null;
}

interface Wrapper {
  /** Options that take the next word as their value. */
  valued: readonly string[];
  /** Options that stand alone, or hold their value in the same word. */
  alone: RegExp;
  /** Words between the options and the command. */
  operands: number;
}

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: {
    valued: ['-u', '--unset', '-C', '--chdir'],
    alone: /^(-i|-|-0|-v|--ignore-environment|--unset=.*|--chdir=.*|-u.+|-C.+)$/,
    operands: 0,
  },
  nohup: { valued: [], alone: /^$/, operands: 0 },
  timeout: {
    valued: ['-k', '-s', '--kill-after', '--signal'],
    alone: /^(-v|--foreground|--preserve-status|--verbose|--kill-after=.*|--signal=.*|-k.+|-s.+)$/,
    operands: 1,
  },
  gtimeout: { valued: ['-k', '-s'], alone: /^(-v|--foreground|--preserve-status)$/, operands: 1 },
  time: {
    valued: ['-f', '-o', '--format', '--output'],
    alone: /^(-p|-v|-a|--portability|--verbose|--append|--format=.*)$/,
    operands: 0,
  },
  nice: { valued: ['-n', '--adjustment'], alone: /^(-n-?\d+|--?\d+|--adjustment=.*)$/, operands: 0 },
  ionice: {
    valued: ['-c', '-n', '--class', '--classdata'],
    alone: /^(-c\d|-n\d|-t|--class=.*|--classdata=.*)$/,
    operands: 0,
  },
  stdbuf: { valued: ['-i', '-o', '-e'], alone: /^(-[ioe].+|--(input|output|error)=.*)$/, operands: 0 },
  setsid: { valued: [], alone: /^(-[cfw]+|--ctty|--fork|--wait)$/, operands: 0 },
  command: { valued: [], alone: /^-p$/, operands: 0 },
  builtin: { valued: [], alone: /^$/, operands: 0 },
  exec: { valued: ['-a'], alone: /^-[cl]+$/, operands: 0 },
  chronic: { valued: [], alone: /^-[ve]+$/, operands: 0 },
  caffeinate: { valued: ['-t', '-w'], alone: /^-[disum]+$/, operands: 0 },
  busybox: { valued: [], alone: /^$/, operands: 0 },
  toybox: { valued: [], alone: /^$/, operands: 0 },
  npx: { valued: ['-p', '--package'], alone: /^(-y|-q|--yes|--no|--no-install|--quiet|--package=.*)$/, operands: 0 },
  bunx: { valued: [], alone: /^(--bun|-y)$/, operands: 0 },
  xargs: {
    valued: [
      '-n',
      '-P',
      '-I',
      '-d',
      '-L',
      '-s',
      '-a',
      '-E',
      '--max-args',
      '--max-procs',
      '--delimiter',
      '--arg-file',
      '--max-lines',
    ],
    alone:
      /^(-[0rtpx]+|-[nPIdLsEa].+|-i.*|--null|--no-run-if-empty|--verbose|--replace(=.*)?|--(max-args|max-procs|delimiter|arg-file|max-lines)=.*)$/,
    operands: 0,
  },
};

/** The command inside, null when this is no wrapper, or 'unknown' when its options cannot be told from the command. */
function unwrap(name: string, rest: readonly Word[]): Wrapped | null | 'unknown' {
  const runner = packageRunner(name, rest);
  const wrapper = runner?.wrapper ?? (Object.hasOwn(wrappers, name) ? wrappers[name] : undefined);
  if (wrapper === undefined) return null;
  if (name === 'command' && /^-[vV]+$/.test(rest[0]?.text ?? '')) return null; // only says where it is
  const assignments: string[] = [];
  let folder: string | null = null;
  let at = runner?.skip ?? 0;
  while (at < rest.length) {
    const { text, splits } = rest[at] as Word;
    if (splits) return 'unknown';
    if (text === '--') {
      at++;
      break;
    }
    if (name === 'env')
      folder =
        /^(?:--chdir=|-C)(.+)$/s.exec(text)?.[1] ??
        (/^(-C|--chdir)$/.test(text) ? (rest[at + 1]?.text ?? null) : folder);
    const assigned = name === 'env' ? /^([A-Za-z_]\w*)=/.exec(text)?.[1] : undefined;
    if (assigned !== undefined) {
      assignments.push(assigned);
      at++;
    } else if (!text.startsWith('-')) break;
    else if (wrapper.valued.includes(text)) at += 2;
    else if (wrapper.alone.test(text)) at++;
    else return 'unknown';
  }
  return { inner: rest.slice(at + wrapper.operands), assignments, folder };
}

/** The files whose lines xargs hands on. */
function listsOf(args: readonly string[]): string[] {
  return args.flatMap((text, at) => {
    const attached = /^(?:-a|--arg-file=)(.+)$/s.exec(text)?.[1];
    if (attached !== undefined) return [attached];
    return /^(-a|--arg-file)$/.test(args[at - 1] ?? '') ? [text] : [];
  });
}

/** `npm exec X`, `pnpm dlx X`, `yarn dlx X`: npx by other names. */
function packageRunner(name: string, rest: readonly Word[]): { wrapper: Wrapper; skip: number } | null {
  const verb = rest[0]?.text ?? '';
  const runs =
    (name === 'npm' && /^(exec|x)$/.test(verb)) || (/^(pnpm|yarn|bun)$/.test(name) && /^(dlx|exec|x)$/.test(verb));
  return runs ? { wrapper: wrappers['npx'] as Wrapper, skip: 1 } : null;
}

interface Danger {
  names: RegExp;
  reason: string;
  when?: (args: readonly string[], words: readonly Word[]) => boolean;
}

function tableRisk(name: string, rest: readonly Word[]): Risk {
  const args = rest.map((word) => word.text);
  const found = dangers.find((danger) => danger.names.test(name) && (danger.when?.(args, rest) ?? true));
  return found === undefined ? null : { destructive: `${found.reason} (${name})` };
}

const verbs = (pattern: RegExp) => (args: readonly string[]) =>
  pattern.test(args.filter((text) => !text.startsWith('-')).join(' '));

const dangers: readonly Danger[] = [
  {
    names: /^rm$/,
    reason: 'deletes folders, or deletes without asking',
    when: (args) => hasOption(args, 'rRf', '--recursive', '--force'),
  },
  {
    names: /^rm$/,
    reason: 'deletes everything that fits a pattern',
    when: (_, words) => words.some((word) => word.pattern),
  },
  { names: /^(rimraf|del-cli|del|trash|srm|shred|wipe|scrub)$/, reason: 'deletes for good' },
  { names: /^(dd|ddrescue)$/, reason: 'copies raw data over whatever is there' },
  {
    names:
      /^(mkfs(\..*)?|newfs.*|mke2fs|mkswap|wipefs|fdisk|sfdisk|gdisk|sgdisk|cfdisk|parted|hdiutil|diskutil|blkdiscard)$/,
    reason: 'changes a disk',
  },
  {
    names: /^((lv|vg|pv)(remove|reduce)|cryptsetup|mdadm|zpool|zfs|btrfs|mount|umount|swapoff|losetup)$/,
    reason: 'changes a disk',
  },
  { names: /^truncate$/, reason: 'cuts files' },
  {
    names: /^(chmod|chown|chgrp|setfacl|chattr)$/,
    reason: 'changes who may do what in a whole folder',
    when: (args) => hasOption(args, 'R', '--recursive'),
  },
  { names: /^chattr$/, reason: 'changes how the file system treats a file' },
  { names: /^(shutdown|reboot|halt|poweroff|init|telinit)$/, reason: 'stops the machine' },
  { names: /^(killall|killall5|pkill|skill|xkill)$/, reason: 'ends programs by name, whosever they are' },
  { names: /^kill$/, reason: 'ends whole groups of programs', when: endsGroups },
  {
    names: /^(systemctl|launchctl|service|rc-service|initctl)$/,
    reason: 'changes services of the machine',
    when: (args) => !/^(status|show|list|is-|cat|print)/.test(verbOf(args)),
  },
  {
    names: /^(iptables|ip6tables|nft|ufw|firewall-cmd|pfctl|route|ifconfig|ip)$/,
    reason: 'changes the network',
    when: (args) => !looksAtNetwork(args),
  },
  {
    names: /^(useradd|userdel|usermod|groupadd|groupdel|passwd|chsh|visudo|chpasswd)$/,
    reason: 'changes accounts of the machine',
  },
  {
    names: /^crontab$/,
    reason: 'changes what runs by the clock',
    when: (args) => !(args.length === 1 && args[0] === '-l'),
  },
  {
    names: /^rsync$/,
    reason: 'deletes files where it copies to',
    when: (args) => args.some((text) => /^--(del|remove-)/.test(text)),
  },
  {
    names: /^tar$/,
    reason: 'deletes what it packs, or runs commands',
    when: (args) => args.some((text) => /^--(remove|to-command|checkpoint-action|use-compress)/.test(text)),
  },
  {
    names: /^(fd|fdfind)$/,
    reason: 'runs a command on everything it finds',
    when: (args) => hasOption(args, 'xX', '--exec', '--exec-batch'),
  },
  {
    names: /^(awk|gawk|mawk|nawk)$/,
    reason: 'runs commands from within',
    when: (args) => args.some((text) => /system\s*\(|\|\s*(getline|")|"\s*\|/.test(text)),
  },
  {
    names: /^(python[\d.]*|node|nodejs|bun|deno|perl|ruby|php)$/,
    reason: 'deletes files from within',
    when: (args) =>
      args.some((text) =>
        /rmtree|rmSync|rmdirSync|unlink|fs\.rm\b|rm_rf|rm_r\b|remove_tree|os\.remove|\.rimraf/.test(text),
      ),
  },
  {
    names: /^(python[\d.]*|node|nodejs|bun|deno|perl|ruby|php)$/,
    reason: 'runs commands from within',
    when: (args) =>
      args.some((text) =>
        /os\.system|subprocess|child_process|\bsystem\s*\(|\bpopen|\bexec[vl]?[pe]?\s*\(|Deno\.Command|Bun\.spawn/.test(
          text,
        ),
      ),
  },
  { names: /^sort$/, reason: 'runs another program', when: (args) => hasOption(args, '', '--compress-program') },
  {
    names: /^rg$/,
    reason: 'runs a command on every file it searches',
    when: (args) => hasOption(args, '', '--pre', '--hostname-bin'),
  },
  { names: /^history$/, reason: 'clears the history', when: (args) => hasOption(args, 'c') },
  { names: /^mv$/, reason: 'throws files away', when: (args) => args.at(-1) === '/dev/null' },
  {
    names: /^(docker|podman|nerdctl)$/,
    reason: 'deletes containers, images or volumes',
    when: verbs(
      /^(((system|volume|image|container|network|builder|buildx) )?(prune|rm|remove|rmi)|rmi|compose .*\b(rm)|stack rm|swarm leave)\b/,
    ),
  },
  {
    names: /^(docker|podman|docker-compose|nerdctl)$/,
    reason: 'deletes containers with their data',
    when: (args) => args.includes('down') && hasOption(args, 'v', '--volumes', '--rmi'),
  },
  {
    names: /^(kubectl|oc)$/,
    reason: 'changes a cluster',
    when: verbs(/^(delete|drain|replace|scale|rollout (undo|restart)|cordon)\b/),
  },
  { names: /^helm$/, reason: 'changes a cluster', when: verbs(/^(uninstall|delete|rollback)\b/) },
  {
    names: /^(terraform|tofu|pulumi|cdk|terragrunt)$/,
    reason: 'changes what runs in the cloud',
    when: verbs(/^(apply|destroy|up|deploy|import|taint|state (rm|mv|push)|stack rm)\b/),
  },
  {
    names: /^(aws|gcloud|az|doctl|heroku|flyctl|fly|vercel|netlify|wrangler|firebase)$/,
    reason: 'changes what runs in the cloud',
    when: verbs(
      /\b(rm|rb|rmi|mb|mv|sync|delete\S*|destroy\S*|terminate\S*|remove\S*|purge\S*|deploy\S*|publish|put-\S*)\b/,
    ),
  },
  {
    names: /^gh$/,
    reason: 'deletes or publishes on GitHub',
    when: verbs(/^(\S+ (delete|archive|rename|transfer|merge|close)|release create|secret (set|delete))\b/),
  },
  {
    names: /^gh$/,
    reason: 'changes something on GitHub',
    when: (args) => args.includes('api') && hasOption(args, 'XfF', '--method', '--field', '--raw-field', '--input'),
  },
  {
    names: /^(npm|pnpm|yarn|bun)$/,
    reason: 'changes what others get from the registry',
    when: verbs(/^(npm )?(publish|unpublish|deprecate|dist-tag (add|rm)|owner|access|token|adduser|login|logout)\b/),
  },
  {
    names: /^cargo$/,
    reason: 'changes what others get from the registry',
    when: verbs(/^(publish|yank|owner|login)\b/),
  },
  {
    names: /^(twine|gem|poetry|uv|flit|hatch|dotnet|mvn|gradle)$/,
    reason: 'changes what others get from the registry',
    when: verbs(/^(upload|push|yank|publish|nuget push|deploy)\b/),
  },
  { names: /^(dropdb|dropuser|mongosh|mongo)$/, reason: 'may delete a database', when: (args) => args.length > 0 },
  {
    names: /^(psql|mysql|mariadb|sqlite3|sqlcmd|duckdb|clickhouse-client)$/,
    reason: 'deletes from a database',
    when: (args) => args.some((text) => /\b(drop|truncate|delete\s+from|alter)\b/i.test(text)),
  },
  {
    names: /^redis-cli$/,
    reason: 'deletes from a database',
    when: (args) => args.some((text) => /^(flushall|flushdb|shutdown|del|unlink)$/i.test(text)),
  },
  {
    names: /^(apt|apt-get|aptitude|dnf|yum|zypper|pacman|apk|brew|snap|port|dpkg|rpm)$/,
    reason: 'removes programs of the machine',
    when: verbs(/^(remove|purge|autoremove|uninstall|erase|del)\b/),
  },
  {
    names: /^(dpkg|rpm|pacman)$/,
    reason: 'removes programs of the machine',
    when: (args) => args.some((text) => /^(-r|-P|-e|-R\w*|--remove|--purge|--erase)$/.test(text)),
  },
  {
    names: /^(defaults|nvram|csrutil|spctl|security|sysctl|modprobe|insmod|rmmod|setenforce)$/,
    reason: 'changes settings of the machine',
    when: (args) => !/^(read|find|list)/.test(verbOf(args)),
  },
];

function verbOf(args: readonly string[]): string {
  return args.find((text) => !text.startsWith('-')) ?? '';
}

function looksAtNetwork(args: readonly string[]): boolean {
  return (
    args.length === 0 ||
    args.every(
      (text) =>
        !/^(add|del|delete|set|flush|up|down|change|replace|enable|disable|allow|deny|reset|-[ADFIPRXNZ])$/.test(text),
    )
  );
}

/** After the signal, a negative number is a group, 0 our own, -1 everybody and 1 the first process of all. */
function endsGroups(args: readonly string[]): boolean {
  const [first, ...others] = args;
  if (first === undefined || first === '-l' || first === '-L') return false;
  const targets = first === '-s' || first === '-n' ? others.slice(1) : first.startsWith('-') ? others : args;
  return targets.some((text) => /^(-\d+|0|1)$/.test(text));
}
