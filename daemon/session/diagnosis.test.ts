import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { agentOn, calls, ended, fakeTool, says } from '../testing/agent-on.ts';
import { diagnoseLog } from './inspect.ts';

const look = (said: string, outcome: 'completed' | 'failed' = 'completed') =>
  fakeTool('look', { run: () => Promise.resolve({ outcome, content: [{ type: 'text', text: said }] }) });

describe('EV3 UI21 a diagnosis', () => {
  test('tells calls that were made again with the same arguments, in whatever order those stand, and how often in a row', async () => {
    const made = await agentOn(
      [
        calls(['look', { path: 'a', deep: 1 }]),
        calls(['look', { deep: 1, path: 'a' }]),
        calls(['look', { path: 'b' }]),
        calls(['look', { path: 'a', deep: 1 }]),
        calls(['look', { path: 'b' }]),
        says('done'),
      ],
      { tools: [look('seen')] },
    );
    await made.submit('go');
    await made.until(ended());
    const { diagnosis, inspection } = await diagnoseLog(made.place.log);
    const row = diagnosis.repeats[0];
    expect(diagnosis.repeats).toMatchObject([
      { tool: 'look', arguments: '{"deep":1,"path":"a"}', times: 3, inARow: 2 },
    ]);
    expect(row?.seqs).toHaveLength(3);
    expect(inspection.events).toBeGreaterThan(row?.seqs.at(-1) ?? Infinity);
  });

  test('tells edits that did not apply, with their target and the first words of why, and results whose middle is missing', async () => {
    const edit = {
      ...fakeTool('edit', {
        run: () =>
          Promise.resolve({
            outcome: 'failed',
            content: [{ type: 'text', text: 'The text was not found.\nNearest: line 3' }],
          }),
      }),
    };
    const cut = 'head\n[… 1,234 lines (56,789 bytes) are left out here; the whole output is in /x/y …]\ntail';
    const made = await agentOn([calls('edit'), calls('look'), says('done')], { tools: [edit, look(cut)] });
    await made.submit('go');
    await made.until(ended());
    const { diagnosis } = await diagnoseLog(made.place.log);
    expect(diagnosis.failedEdits).toMatchObject([{ tool: 'edit', said: 'The text was not found.\nNearest: line 3' }]);
    expect(diagnosis.failedCalls).toEqual({ edit: 1 });
    expect(diagnosis.truncations).toMatchObject([{ what: 'result', of: 'cal_2', omittedBytes: 56_789, kept: null }]);
  });

  test('tells failures once each, with the events they stand at, and what was tried again', async () => {
    const failure = { code: 'provider_failed' as const, message: 'It fell over.' };
    const made = await agentOn(
      [
        [{ type: 'fail', failure, retryable: true, retryAfterMs: 1 }],
        [{ type: 'fail', failure: { code: 'unauthorized', message: 'No key.' }, retryable: false }],
      ],
      {},
    );
    await made.submit('go');
    await made.until(ended());
    const { diagnosis } = await diagnoseLog(made.place.log);
    expect(diagnosis.retries).toMatchObject([{ attempt: expect.any(Number) as number, code: 'provider_failed' }]);
    expect(diagnosis.failures).toMatchObject([{ code: 'unauthorized', times: 1, last: 'No key.' }]);
  });

  test('says null where the log says nothing: of usage, and of time that nothing took', async () => {
    const made = await agentOn([says('hello')]);
    await made.submit('go');
    await made.until(ended());
    const { diagnosis } = await diagnoseLog(made.place.log);
    expect(diagnosis).toMatchObject({
      usage: null,
      time: { tools: null, waitingForPerson: null },
      repairs: [],
      open: [],
    });
    expect(diagnosis.time.model).toBeGreaterThanOrEqual(0);
  });

  test('counts what reported its usage, and says how many steps did not', async () => {
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
    const made = await agentOn([[{ type: 'usage', usage }, ...calls('look')], says('done')], { tools: [look('x')] });
    await made.submit('go');
    await made.until(ended());
    expect((await diagnoseLog(made.place.log)).diagnosis.usage).toEqual({ input: 10, output: 5, unknownSteps: 1 });
  });

  test('lists what the next start would repair, and repairs nothing: calls without an end, a torn end', async () => {
    let arrive: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const hanging = fakeTool('look', {
      run: (_, __, signal) => {
        arrive();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
      },
    });
    const made = await agentOn([calls('look')], { tools: [hanging] });
    await made.submit('go');
    await arrived;
    await made.until((now) => now.active?.step?.calls[0]?.state === 'running');
    const copy = `${made.home.home}/copy.jsonl.zst`;
    writeFileSync(copy, readFileSync(made.place.log));
    appendFileSync(copy, readFileSync(made.place.log).subarray(0, 20));
    const before = readFileSync(copy);
    const { diagnosis } = await diagnoseLog(copy);
    expect(diagnosis.open).toEqual([{ callId: 'cal_1', tool: 'look', state: 'running' }]);
    expect(diagnosis.repairs).toEqual([
      'The torn end of the log is cut off and kept beside it.',
      expect.stringMatching(/^trn_\d+ was moving: it is closed as interrupted\.$/) as string,
    ]);
    expect(readFileSync(copy)).toEqual(before);
  });
});
