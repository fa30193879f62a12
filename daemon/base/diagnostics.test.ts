import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { Diagnostics } from './diagnostics.ts';
import { maxDiagnosticValueBytes } from './limits.ts';

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('a line says when, how grave, what, and with which facts; an error is spelled out with its cause', () => {
  const path = join(temporaryFolder(), 'diagnostics.jsonl');
  const diagnostics = new Diagnostics(path, new ManualClock());
  diagnostics.info('started', { port: 7717 });
  diagnostics.error('a session failed', { error: new Error('outer', { cause: new TypeError('inner') }) });
  diagnostics.close();
  expect(linesOf(path)).toMatchObject([
    { at: '2026-01-01T00:00:00.000Z', level: 'info', message: 'started', port: 7717 },
    { level: 'error', error: { error: 'Error', message: 'outer', cause: { error: 'TypeError', message: 'inner' } } },
  ]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a secret is written nowhere: not in words, fields, names of fields, stacks, nor at a cut', () => {
  const path = join(temporaryFolder(), 'diagnostics.jsonl');
  const diagnostics = new Diagnostics(path, new ManualClock());
  const secret = 'sk-"quoted"\\-and-long';
  diagnostics.keepSecret(secret);
  diagnostics.warn(`refused ${secret}`, {
    [secret]: 1,
    headers: { authorization: [`Bearer ${secret}`] },
    error: new Error(secret),
    long: 'x'.repeat(maxDiagnosticValueBytes / 4 - 5) + secret + 'x'.repeat(maxDiagnosticValueBytes),
  });
  diagnostics.close();
  const text = readFileSync(path, 'utf8');
  expect(text).not.toContain('sk-');
  expect(text).not.toContain('quoted');
  expect(Buffer.byteLength(text)).toBeLessThan(2 * maxDiagnosticValueBytes);
});

test('RT28 the file and its one predecessor stay within the limit', () => {
  const path = join(temporaryFolder(), 'diagnostics.jsonl');
  const diagnostics = new Diagnostics(path, new ManualClock(), 2_000);
  for (let count = 0; count < 200; count += 1) diagnostics.info('again', { count });
  diagnostics.close();
  expect(statSync(path).size).toBeLessThanOrEqual(2_000);
  expect(statSync(`${path}.old`).size).toBeLessThanOrEqual(2_000);
  expect(linesOf(path).at(-1)).toMatchObject({ count: 199 });
});

test('where it cannot be written nothing else fails, and it goes on when it can', () => {
  const folder = join(temporaryFolder(), 'late');
  const path = join(folder, 'diagnostics.jsonl');
  const diagnostics = new Diagnostics(path, new ManualClock());
  diagnostics.info('lost');
  expect(existsSync(path)).toBe(false);
  mkdirSync(folder);
  diagnostics.info('kept');
  diagnostics.close();
  expect(linesOf(path)).toMatchObject([{ message: 'kept' }]);
});
