/** The environment that every contestant gets: a plain terminal-less machine, a fresh home, and nothing of whoever runs the bench. */
import { join } from 'node:path';
import type { BenchPlace } from '../contestant.ts';

/** No provider of the bench asks for a key; some contestants insist on having one. */
export const anyKey = 'bench-key-of-nobody';

export function environmentOf({ home }: BenchPlace, more: Readonly<Record<string, string>> = {}) {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    USER: 'bench',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    ...more,
  };
}
