import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { InvariantError } from '../base/errors.ts';
import { frameTargetBytes, maxEventBytes } from '../base/limits.ts';
import { contentOf, delta, lines, upTo } from '../testing/small-log.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { encodeEvent } from './codec.ts';
import { openLogFile, type LogFile, type OpenLogFile } from './log-file.ts';
import { walkHeaders, type FrameSpan } from './reader.ts';
import { LogWriter } from './writer.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: from the test`), { code });
}

/** A disk on which some calls go wrong; the others reach the real file. */
function disk(faults: (file: LogFile) => Partial<LogFile>): OpenLogFile {
  return async (path, which) => {
    const file = await openLogFile(path, which);
    return { ...file, ...faults(file) };
  };
}

async function create(path: string, openFile?: OpenLogFile): Promise<LogWriter> {
  const writer = await LogWriter.create(path, openFile);
  onTestFinished(() => writer.close());
  return writer;
}

async function spansOf(path: string): Promise<FrameSpan[]> {
  const spans: FrameSpan[] = [];
  for await (const found of walkHeaders(path)) if (found.kind === 'frame') spans.push(found);
  return spans;
}

describe.each(['a.jsonl.zst', 'a.jsonl'])('a writer of %s', (name) => {
  test('appends, and goes on where it left off', async () => {
    const path = join(temporaryFolder(), name);
    const writer = await create(path);
    const first = await writer.append(lines(1, 2), 1);
    const second = await writer.append(lines(3, 3), 3);
    expect(second.offset).toBe(first.end);
    await writer.sync();
    await writer.close();
    await writer.close();
    const again = await LogWriter.open(path, { end: second.end, lastSeq: 3 });
    await again.append(lines(4, 4), 4);
    expect(again.tail).toEqual({ end: statSync(path).size, lastSeq: 4 });
    await again.close();
    expect(await contentOf(path)).toEqual({ seqs: upTo(4), damages: [] });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('writes on where the disk takes fewer bytes than given', async () => {
    const path = join(temporaryFolder(), name);
    const writer = await create(
      path,
      disk((file) => ({ write: (bytes, position) => file.write(bytes.subarray(0, 7), position) })),
    );
    await writer.append(lines(1, 20), 1);
    expect(await contentOf(path)).toEqual({ seqs: upTo(20), damages: [] });
  });

  test.each(['ENOSPC', 'EIO'])(
    'fails an append that meets %s halfway, leaves the log as it was, and goes on when it can',
    async (code) => {
      const path = join(temporaryFolder(), name);
      let full = false;
      const writer = await create(
        path,
        disk((file) => ({
          write: async (bytes, position) => {
            if (!full) return file.write(bytes, position);
            if (bytes.length > 10) return file.write(bytes.subarray(0, 10), position);
            throw systemError(code);
          },
        })),
      );
      await writer.append(lines(1, 2), 1);
      const before = readFileSync(path);
      full = true;
      await expect(writer.append(lines(3, 9), 3)).rejects.toMatchObject({ code: 'write_failed', cause: { code } });
      expect(readFileSync(path)).toEqual(before);
      full = false;
      await writer.append(lines(3, 4), 3);
      expect(await contentOf(path)).toEqual({ seqs: upTo(4), damages: [] });
    },
  );
});

test('an append whose failure cannot be cut back closes the log for writing and says so', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const writer = await create(
    path,
    disk(() => ({
      write: () => Promise.reject(systemError('EIO')),
      truncate: () => Promise.reject(systemError('EIO')),
    })),
  );
  const refusal = {
    code: 'closed_for_writing',
    message: expect.stringContaining('could not be removed again') as string,
  };
  await expect(writer.append(lines(1, 1), 1)).rejects.toMatchObject(refusal);
  await expect(writer.append(lines(1, 1), 1)).rejects.toMatchObject(refusal);
  await expect(writer.sync()).rejects.toMatchObject(refusal);
  expect(writer.closedBecause).toContain('could not be removed again');
  await writer.close();
});

test('a sync that fails closes the log for writing: the kernel may have dropped what it could not write', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const writer = await create(
    path,
    disk(() => ({ datasync: () => Promise.reject(systemError('EIO')) })),
  );
  await writer.append(lines(1, 1), 1);
  await expect(writer.sync()).rejects.toMatchObject({ code: 'closed_for_writing', cause: { code: 'EIO' } });
  await expect(writer.append(lines(2, 2), 2)).rejects.toMatchObject({ code: 'closed_for_writing' });
});

test('RT2 many events are split into frames of about the target size, in one write', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  let writes = 0;
  const writer = await create(
    path,
    disk((file) => ({
      write: (bytes, position) => {
        writes += 1;
        return file.write(bytes, position);
      },
    })),
  );
  const text = 'x'.repeat(frameTargetBytes / 4);
  await writer.append(lines(1, 10, text), 1);
  expect(writes).toBe(1);
  expect((await spansOf(path)).map(({ firstSeq, count }) => [firstSeq, count])).toEqual([
    [1, 3],
    [4, 3],
    [7, 3],
    [10, 1],
  ]);
  expect((await contentOf(path)).seqs).toEqual(upTo(10));
});

test('RT7 an event of the largest size has a frame of its own and is read again', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const writer = await create(path);
  const room = maxEventBytes - Buffer.byteLength(encodeEvent(delta(2, '')));
  await writer.append([...lines(1, 1), ...lines(2, 2, 'x'.repeat(room)), ...lines(3, 3)], 1);
  expect((await spansOf(path)).map(({ count }) => count)).toEqual([1, 1, 1]);
  expect(await contentOf(path)).toEqual({ seqs: upTo(3), damages: [] });
});

test('a gap, an empty append and a second append in flight are bugs', async () => {
  const writer = await create(join(temporaryFolder(), 'a.jsonl.zst'));
  await expect(writer.append(lines(2, 2), 2)).rejects.toThrow(InvariantError);
  await expect(writer.append([], 1)).rejects.toThrow(InvariantError);
  const first = writer.append(lines(1, 1), 1);
  await expect(writer.append(lines(2, 2), 2)).rejects.toThrow(InvariantError);
  await first;
});

test('closing waits for the write in flight', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const writer = await create(path);
  const append = writer.append(lines(1, 5), 1);
  await writer.close();
  await append;
  expect((await contentOf(path)).seqs).toEqual(upTo(5));
  await expect(writer.append(lines(6, 6), 6)).rejects.toMatchObject({ code: 'closed_for_writing' });
});

test('a log that is not as long as it should be is not opened; one that is there is not made again', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const writer = await create(path);
  const { end } = await writer.append(lines(1, 1), 1);
  await writer.close();
  await expect(LogWriter.open(path, { end: end - 1, lastSeq: 1 })).rejects.toMatchObject({ code: 'changed' });
  await expect(LogWriter.create(path)).rejects.toMatchObject({ code: 'EEXIST' });
});
