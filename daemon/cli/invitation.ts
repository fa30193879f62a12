/** Words that bring a browser to a running daemon: address, link, typed code, QR, ssh line. And opening one without a code in a process list. */
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { renderUnicodeCompact } from 'uqr';
import type { Result } from '#protocol/command.ts';
import { writeFileAtomically } from '../base/files.ts';

/** Long enough for a slow browser to read the file, short against the ten minutes that the code in it lives. */
const openFileMs = 15_000;

export function invitation(port: number, pairing: Result<'pairing.create'>, options: { qr: boolean }): string {
  const lines = [
    `  Address  http://localhost:${port}`,
    `  Pair     ${pairing.link}`,
    `  Code     ${pairing.typed}   (once, within ten minutes)`,
    `  Phone    ${pairing.ssh}`,
    `           then open http://localhost:${port} there and type the code`,
  ];
  if (options.qr)
    lines.push(
      '',
      ...renderUnicodeCompact(pairing.link, { border: 2 })
        .split('\n')
        .map((line) => `  ${line}`),
    );
  return lines.join('\n');
}

/** Whether a browser opened here would be seen by the person: not over SSH, and on Linux only with a display. */
export function hasDisplay(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): boolean {
  if (environment['SSH_CONNECTION'] !== undefined) return false;
  return platform === 'darwin' || environment['DISPLAY'] !== undefined || environment['WAYLAND_DISPLAY'] !== undefined;
}

/** Opens the link in the person's browser, through an owner-only file that goes away again. Quiet where no browser can be started. */
export async function openBrowser(link: string, home: string, platform: NodeJS.Platform): Promise<void> {
  const path = join(home, 'open.html');
  const target = JSON.stringify(link).replaceAll('<', '\\u003c');
  await writeFileAtomically(
    path,
    `<!doctype html><meta charset="utf-8"><title>Alcove</title><script>location.replace(${target})</script>\n`,
  );
  const child = spawn(platform === 'darwin' ? 'open' : 'xdg-open', [path], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined); // The link stands on the terminal.
  child.unref();
  setTimeout(() => void rm(path, { force: true }), openFileMs).unref();
}
