import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import type { Entry } from './format.ts';
import { RecordingFile } from './recording-file.ts';

const entry = (is: string): Entry => ({ type: 'value', value: 1, is });
const lineBytes = (of: Entry) => JSON.stringify(of).length + 1;

it('EV1 RT28: takes entries up to its limit, and of one byte more it says that it is full, and nothing after', () => {
  const first = entry('moss');
  const full = `${JSON.stringify({ type: 'full' })}\n`;
  for (const [limit, lines, problem] of [
    [2 * lineBytes(first) + 64, 2, null],
    [2 * lineBytes(first) + 63, 1, expect.stringContaining('(maxRecordingBytes)')],
  ] as const) {
    const path = join(temporaryFolder(), 'run.jsonl');
    const file = RecordingFile.open(path, limit);
    file.write(first);
    file.write(first);
    expect(file.problem).toEqual(problem);
    if (problem !== null) file.write(entry('fern'));
    file.close();
    const whole = `${JSON.stringify(first)}\n`.repeat(lines) + (problem === null ? '' : full);
    expect(readFileSync(path, 'utf8')).toBe(whole);
    expect(statSync(path).size).toBeLessThanOrEqual(limit);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
});

it('EV1: what is written is there at once: a kill leaves it', () => {
  const path = join(temporaryFolder(), 'run.jsonl');
  const file = RecordingFile.open(path);
  file.write(entry('moss'));
  expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(entry('moss'))}\n`);
  file.close();
  file.close();
});

it('EV1: a disk that takes no more ends the recording, and not its writer', () => {
  const file = RecordingFile.open(join(temporaryFolder(), 'run.jsonl'));
  // The descriptor is closed under it: every write fails from here on.
  const { close } = file;
  close.call(file);
  file.write(entry('moss'));
  expect(file.problem).toBeNull();
});
