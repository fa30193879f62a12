/** An agent whose process is killed at any moment: what was acknowledged is there once, and the next request is valid. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { atRest } from '#protocol/conversation/open.ts';
import { systemClock } from '../base/clock.ts';
import { placeInHome } from '../session/place.ts';
import { recover } from '../session/recovery.ts';
import { Session } from '../session/session.ts';
import { allCalls } from '../testing/agent-on.ts';
import { sessionIdOf, temporaryHome } from '../testing/temporary-home.ts';
import { Context } from './context/context.ts';

const program = fileURLToPath(new URL('fixtures/submit-until-killed.ts', import.meta.url));

test.each([1, 7, 40, 90, 150])(
  'RT8 RT4 RT24 C04 killed after %i acknowledged messages, each is there exactly once, claimed or waiting, and no call ran without being in the log',
  async (enough) => {
    const home = await temporaryHome();
    const child = spawn(process.execPath, ['--import', 'tsx', program, home.home, sessionIdOf(1)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    let acknowledged = 0;
    for await (const line of createInterface(child.stdout)) {
      acknowledged = Number(line);
      if (acknowledged >= enough) child.kill('SIGKILL');
    }
    await exit;
    const options = { clock: systemClock, owner: 'the daemon', durability: 'kernel' } as const;
    const session = await Session.open(placeInHome(home, sessionIdOf(1)), options);
    onTestFinished(() => session.close());
    await recover(session, 0);
    await session.hydrate();
    const { conversation } = session;
    const numbers = [...claimed(conversation), ...conversation.inbox.map(({ parts }) => numberOf(parts))];
    const sorted = numbers.toSorted((a, b) => a - b);
    expect(sorted.slice(0, acknowledged)).toEqual(Array.from({ length: acknowledged }, (_, at) => at + 1));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.length).toBeLessThanOrEqual(acknowledged + 1);
    expect(conversation.anomalies).toEqual([]);
    expect(atRest(conversation)).toBe(true);

    const file = join(home.home, 'ran');
    const ran = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').length : 0;
    const started = allCalls(conversation).filter((call) => call.startedAt !== null).length;
    expect(started - ran).toBeGreaterThanOrEqual(0);
    expect(started - ran).toBeLessThanOrEqual(1);
    const items = await new Context(() => Promise.resolve(null)).items(conversation);
    const called = items.flatMap((item) =>
      item.type === 'reply' ? item.pieces.flatMap((piece) => (piece.type === 'tool-call' ? [piece.callId] : [])) : [],
    );
    const results = items.flatMap((item) => (item.type === 'result' ? [item.callId] : []));
    expect(results).toEqual(called);
  },
);

function claimed(conversation: Conversation): number[] {
  const turns = [...conversation.turns, ...(conversation.active === null ? [] : [conversation.active])];
  const steps = turns.flatMap((turn) => [...turn.steps, ...(turn.step === null ? [] : [turn.step])]);
  return steps.flatMap((step) => step.inputs.map(({ parts }) => numberOf(parts)));
}

function numberOf(parts: Conversation['inbox'][number]['parts']): number {
  const [part] = parts;
  return part?.type === 'text' ? Number(part.text.replace('message ', '')) : Number.NaN;
}
