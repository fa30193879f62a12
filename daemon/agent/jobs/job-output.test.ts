import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { maxJobFileBytes } from '../../base/limits.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { JobOutput, readEnded, removeOutput } from './job-output.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function outputIn(path = join(temporaryFolder(), 'job_1.txt')) {
  const output = new JobOutput(path);
  onTestFinished(() => output.close());
  return { output, path };
}

const told = ({ output, lostBytes }: ReturnType<JobOutput['read']>) => [
  output.cut === null ? output.text : `${output.head}…${output.tail}`,
  lostBytes,
];

describe('OR9: the output of a job', () => {
  test('is read on from where the last reading ended, and a character that is cut waits for its rest', () => {
    const { output } = outputIn();
    output.push(bytes('one\n').subarray(0, 4));
    const first = output.read(0);
    expect(told(first)).toEqual(['one\n', 0]);
    const moss = bytes('m🌱ss');
    output.push(moss.subarray(0, 3));
    const second = output.read(first.next);
    expect(told(second)).toEqual(['m', 0]);
    output.push(moss.subarray(3));
    expect(told(output.read(second.next))).toEqual(['🌱ss', 0]);
  });

  test('RT28: is kept in two files of maxJobFileBytes each; one byte more than both hold, and the oldest are lost and counted', () => {
    const { output, path } = outputIn();
    const mebibyte = new Uint8Array(1024 * 1024).fill(0x61);
    for (let count = 0; count < (2 * maxJobFileBytes) / mebibyte.length; count += 1) output.push(mebibyte);
    expect(output.read(0).lostBytes).toBe(0);
    output.push(bytes('z'));
    expect(output.bytes).toBe(2 * maxJobFileBytes + 1);
    expect(statSync(path).size).toBe(1);
    expect(statSync(path.replace('.txt', '.older.txt')).size).toBe(maxJobFileBytes);
    const reading = output.read(0);
    expect(reading.lostBytes).toBe(maxJobFileBytes);
    expect(reading.output.bytes).toBe(maxJobFileBytes + 1);
    expect(reading.output.cut).toBe('bytes');
    expect(reading.next).toBe(output.bytes);
    expect(reading.files).toEqual([path.replace('.txt', '.older.txt'), path]);
  });

  test('after a restart is read from what the files hold, whoever counted or did not', () => {
    const { output, path } = outputIn();
    output.push(bytes('hello\n'));
    output.close();
    expect(told(readEnded(path, 6, 0))).toEqual(['hello\n', 0]);
    expect(told(readEnded(path, null, 0))).toEqual(['hello\n', 0]);
    expect(told(readEnded(path, 6, -3))).toEqual(['lo\n', 0]);
    expect(told(readEnded(path, 6, 6))).toEqual(['', 0]);
    expect(told(readEnded(path, 106, 0))).toEqual(['hello\n', 100]);
  });

  test('a file that an earlier one of that name left is not its own', () => {
    const path = join(temporaryFolder(), 'job_1.txt');
    writeFileSync(path, 'somebody else');
    const { output } = outputIn(path);
    expect(told(output.read(0))).toEqual(['', 0]);
    output.push(bytes('mine'));
    expect(readFileSync(path, 'utf8')).toBe('mine');
    removeOutput(path);
    expect(existsSync(path)).toBe(false);
    expect(told(output.read(0))).toEqual(['', 0]);
  });

  test('a disk that refuses is no reason to fail: what comes is counted', () => {
    const { output } = outputIn('/proc/nowhere/job_1.txt');
    output.push(bytes('lost'));
    expect(output.bytes).toBe(4);
    expect(told(output.read(0))).toEqual(['', 0]);
  });
});
