/**
 * Bounds by bubblewrap (`man bwrap`). The whole file system is there, read-only; processes are seen by nobody and see nobody, since /proc of
 * another process would lead outside; /tmp and /run are the command's own, as sockets stand there that take orders. What a command leaves
 * running ends with it: its process namespace does.
 */
import type { Bounds, SandboxProgram } from './sandbox.ts';

/** Where resolvers and NixOS keep what programs need, below /run. */
const neededOfRun = [
  '/run/systemd/resolve',
  '/run/NetworkManager',
  '/run/resolvconf',
  '/run/current-system',
  '/run/wrappers',
];

export const bubblewrap: SandboxProgram = {
  program: 'bwrap',
  args,
  missing:
    'A sandbox for commands is asked for, and bubblewrap is not installed. Install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap) and start Alcove again.',
  unusable: 'A sandbox for commands is asked for, and bubblewrap cannot make one here',
};

function args({ network, writable, kept, hidden, shown, folder, temporary }: Bounds): string[] {
  return [
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-ipc',
    ...(network ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    ...['--bind', temporary, '/tmp', '--bind', temporary, '/var/tmp', '--tmpfs', '/run'],
    ...neededOfRun.flatMap((path) => ['--ro-bind-try', path, path]),
    // Where the project is below one of the folders that were covered; a writable one of the same path comes over it.
    ...['--ro-bind', folder, folder],
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...kept.flatMap((path) => ['--ro-bind', path, path]),
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...shown.flatMap((path) => ['--ro-bind', path, path]),
    ...hidden.flatMap((path) => ['--remount-ro', path]),
    ...['--setenv', 'TMPDIR', '/tmp'],
    ...['--chdir', folder],
    '--',
  ];
}
