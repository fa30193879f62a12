import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputWindow, type Truncation } from './truncate.ts';

function windowOf(pieces: readonly (string | Uint8Array)[], limits = { bytes: 100, lines: 10 }): Truncation {
  const window = new OutputWindow(limits);
  for (const piece of pieces) window.push(Buffer.from(piece as string));
  return window.result();
}

describe('TL10: head and tail within two limits', () => {
  test('what fits both limits exactly is whole', () => {
    expect(windowOf(['x'.repeat(100)])).toEqual({ cut: null, text: 'x'.repeat(100), bytes: 100 });
    expect(windowOf(['\n'.repeat(10)])).toMatchObject({ cut: null });
  });

  test('one byte more is cut by bytes', () => {
    expect(windowOf(['x'.repeat(101)])).toEqual({
      cut: 'bytes',
      head: 'x'.repeat(50),
      tail: 'x'.repeat(50),
      bytes: 101,
      omittedBytes: 1,
      omittedLines: 0,
    });
  });

  test('one line more is cut by lines', () => {
    expect(windowOf(['1\n2\n3\n4\n5\n6\n7\n8\n9\na\n', 'b\n'])).toEqual({
      cut: 'lines',
      head: '1\n2\n3\n4\n5\n',
      tail: '7\n8\n9\na\nb\n',
      bytes: 22,
      omittedBytes: 2,
      omittedLines: 1,
    });
  });

  test('a seam does not fall inside a line of reasonable length, nor inside a character', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index} is here\n`);
    const cut = windowOf(lines, { bytes: 100, lines: 100 });
    expect(cut).toMatchObject({
      head: 'line 0 is here\nline 1 is here\nline 2 is here\n',
      tail: 'line 17 is here\nline 18 is here\nline 19 is here\n',
    });
    const wide = windowOf(['é'.repeat(200), '😀'.repeat(50)]);
    expect(JSON.stringify(wide)).not.toContain('\ufffd');
  });

  test('nothing is lost or invented, however it is cut into pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'é'), maxLength: 60 }), { maxLength: 40 }),
        (pieces) => {
          const all = pieces.join('');
          const result = windowOf(pieces);
          if (result.cut === null) {
            expect(result.text).toBe(all);
            return;
          }
          expect(all.startsWith(result.head)).toBe(true);
          expect(all.endsWith(result.tail)).toBe(true);
          expect(result.bytes).toBe(Buffer.byteLength(all));
          expect(result.omittedBytes).toBe(
            result.bytes - Buffer.byteLength(result.head) - Buffer.byteLength(result.tail),
          );
          expect(Buffer.byteLength(result.head + result.tail)).toBeLessThanOrEqual(100);
          expect(result.omittedBytes).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
