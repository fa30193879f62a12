/** What stands in the result of a call beside what its tool said. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CallId } from '#protocol/values/ids.ts';
import { maxCallTextBytes, maxResultBytes } from '../base/limits.ts';
import { boundedResult } from './bounded-result.ts';
import { agentOn, allCalls, calls, ended, fakeTool, says, textOfCall } from '../testing/agent-on.ts';

const results = async (script: Parameters<typeof agentOn>[0], run: () => string) => {
  const made = await agentOn(script, { tools: [fakeTool('look', { run: () => Promise.resolve(run()) })] });
  await made.submit('go');
  return allCalls(await made.until(ended())).map(textOfCall);
};
const reminded = (text: string) => /\[This very call was made (\d+) times/.exec(text)?.[1] ?? null;

describe('TL28: a call that is made again and again', () => {
  test('is reminded of in its third result, and in each after it, also across steps', async () => {
    const look = calls(['look', { a: 1, b: 2 }]);
    const other = calls(['look', { b: 2, a: 1 }]);
    const texts = await results([look, other, look, look, says('done')], () => 'nothing');
    expect(texts.map(reminded)).toEqual([null, null, '3', '4']);
    expect(texts[2]).toBe(
      'nothing\n[This very call was made 3 times in this turn, with the same result each time. Making it again will not help: do something else, or say what keeps you.]',
    );
  });

  test('also where others come between, if its result is always the same; not where it changes', async () => {
    const again = ['look', { path: 'a' }] as [string, Record<string, string>];
    const others = Array.from({ length: 3 }, (_, at) => calls(again, ['look', { path: `other ${at}` }]));
    expect((await results([...others, says('done')], () => 'same')).map(reminded)).toEqual([
      null,
      null,
      null,
      null,
      '3',
      null,
    ]);
    let count = 0;
    expect((await results([...others, says('done')], () => `${count++}`)).map(reminded)).toEqual(Array(6).fill(null));
  });

  test('a row of three is told even where each result is another, and a call that cannot be understood is, too', async () => {
    let count = 0;
    const look = calls('look');
    expect((await results([look, look, look, says('done')], () => `${count++}`)).map(reminded)).toEqual([
      null,
      null,
      '3',
    ]);
    const unknown = calls(['nope', { x: 1 }]);
    expect((await results([unknown, unknown, unknown, says('done')], () => '')).map(reminded)).toEqual([
      null,
      null,
      '3',
    ]);
  });

  test('a new turn begins anew', async () => {
    const look = calls('look');
    const made = await agentOn([look, look, says('one'), look, says('two')], { tools: [fakeTool('look')] });
    await made.submit('go');
    await made.until(ended());
    await made.submit('again');
    expect(allCalls(await made.until(ended(2))).map((call) => reminded(textOfCall(call)))).toEqual([null, null, null]);
  });
});

describe('TL12 RT28: a result that its tool did not bound', () => {
  test('of maxCallTextBytes is whole; of one byte more it is head and tail, and the whole is where it says', async () => {
    const lines = (bytes: number) => 'a line of text\n'.repeat(bytes / 15).padEnd(bytes, 'x');
    const fits = lines(maxCallTextBytes);
    const over = `${fits}y`;
    const said = [fits, over];
    const [whole, cut] = await results(
      [calls('look', ['look', { second: 1 }]), says('done')],
      () => said.shift() ?? '',
    );
    expect(whole).toBe(fits);
    expect(Buffer.byteLength(cut ?? '')).toBeLessThan(maxResultBytes + 500);
    expect(cut?.startsWith('a line of text\n')).toBe(true);
    expect(cut?.endsWith('xy')).toBe(true);
    const [, path] = /left out here; the whole is in (\S+) …\]/.exec(cut ?? '') ?? [];
    expect(readFileSync(path ?? '', 'utf8')).toBe(over);
  });

  test('what is too long in several parts is bounded as one, and a disk that refuses is no reason to fail', async () => {
    const parts = Array.from({ length: 30 }, (_, at) => ({ type: 'text' as const, text: `${at} ${'z'.repeat(4000)}` }));
    const picture = { type: 'image', blob: { sha256: 'a'.repeat(64), bytes: 1 }, mediaType: 'image/png' } as const;
    const bounded = await boundedResult('cal_1' as CallId, [...parts, picture], () =>
      Promise.reject(new Error('full')),
    );
    expect(bounded).toHaveLength(2);
    expect(bounded[1]).toBe(picture);
    const text = bounded[0]?.type === 'text' ? bounded[0].text : '';
    expect(text.startsWith('0 zzz')).toBe(true);
    expect(text).toContain('the whole could not be kept');
    expect(Buffer.byteLength(text)).toBeLessThan(maxResultBytes + 500);
  });
});
