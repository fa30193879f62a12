/**
 * Bounds by seatbelt (`man sandbox-exec`, which says that it is deprecated; it is what the system has). Reading is free but for Alcove's home;
 * temporary folders are those of the person, as a process cannot be given others.
 */
import { tmpdir } from 'node:os';
import type { Bounds, SandboxProgram } from './sandbox.ts';

export const seatbelt: SandboxProgram = {
  program: '/usr/bin/sandbox-exec',
  args: (bounds) => ['-p', profileOf(bounds)],
  missing: 'A sandbox for commands is asked for, and this macOS has no sandbox-exec.',
  unusable: 'A sandbox for commands is asked for, and sandbox-exec cannot make one here',
};

/** The last rule that matches counts. */
export function profileOf({ network, writable, kept, hidden, shown, temporary }: Bounds): string {
  const written = [...writable, temporary, tmpdir(), '/private/tmp', '/private/var/tmp'];
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    ...written.map((path) => `(allow file-write* (subpath ${quoted(path)}))`),
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/ttys") (subpath "/dev/fd"))',
    ...kept.map((path) => `(deny file-write* (subpath ${quoted(path)}))`),
    ...hidden.map((path) => `(deny file-read* file-write* (subpath ${quoted(path)}))`),
    ...shown.map((path) => `(allow file-read* (subpath ${quoted(path)}))`),
    ...(network ? [] : ['(deny network*)']),
  ].join('\n');
}

function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
