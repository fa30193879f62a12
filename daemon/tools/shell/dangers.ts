/** What well-known programs destroy or take over, by their arguments: the table of destructive commands (PM3). */
import { hasOption, type Risk } from './option.ts';
import type { Word } from './syntax.ts';

interface Danger {
  names: RegExp;
  reason: string;
  when?: (args: readonly string[], words: readonly Word[]) => boolean;
}

export function tableRisk(name: string, rest: readonly Word[]): Risk {
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
