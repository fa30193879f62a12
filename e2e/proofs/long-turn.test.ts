/** One turn of 20,000 events behind the real socket: what the first screen costs, what a page costs, and that the pages make up the whole. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prepend } from '#protocol/conversation/base.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { SocketClient } from '../../daemon/testing/socket-client.ts';
import { longTurn, longTurnEvents, writeSession } from '../support/long-turn.ts';
import { fold, House, report, soundFold } from './house.ts';

const maxFirstScreen = 400_000;
const maxPage = 200_000;

/** Bytes of every message of the socket, as they come. */
function counted(client: SocketClient): () => number {
  let bytes = 0;
  client.socket.on('message', (data) => (bytes += (data as Buffer).length));
  return () => {
    const sum = bytes;
    bytes = 0;
    return sum;
  };
}

it.each(['as it was written', 'without its index'])(
  'MB4 RT1: a turn of 20,000 events opens with a bounded first screen, and its pages put before that are the whole (%s)',
  { timeout: 120_000 },
  async (state) => {
    const house = await House.open();
    await house.daemon.start();
    await house.daemon.stop();
    const sessionId = await writeSession(house.home, longTurn().events);
    const sessions = join(house.home, 'sessions');
    if (state === 'without its index')
      for (const name of readdirSync(sessions)) if (name.endsWith('.index')) rmSync(join(sessions, name));
    const startedFrom = performance.now();
    await house.daemon.start();
    const startMs = Math.round(performance.now() - startedFrom);
    const events = await house.events(sessionId);
    const whole = soundFold(events);
    expect(events.length).toBeGreaterThanOrEqual(longTurnEvents);
    expect([whole.turns.length, whole.active?.outcome]).toEqual([0, null]);

    const client = await house.connect();
    await client.notice(({ topic }) => topic === 'settled');
    const sent = counted(client);
    const from = performance.now();
    const { result } = await client.call('session.subscribe', { sessionId, tailBytes: 65_536 });
    const { base, subscription, seq } = result as typeof result & { base: Conversation; seq: number };
    expect(seq).toBe(events.length);
    const tail = await client.reached(subscription, seq);
    const firstMs = Math.round(performance.now() - from);
    const firstBytes = sent();
    expect(firstBytes).toBeLessThan(maxFirstScreen);
    let shown = fold(tail, base);
    const stepsOnFirst = shown.active?.steps.length ?? 0;
    expect(stepsOnFirst).toBeGreaterThan(10);

    const pages: { bytes: number; ms: number }[] = [];
    for (let before = base.seq + 1; before > 1;) {
      const asked = performance.now();
      const page = (await client.call('session.page', { sessionId, before })).result as unknown as {
        base: Conversation;
        events: SessionEvent[];
      };
      pages.push({ bytes: sent(), ms: Math.round(performance.now() - asked) });
      expect(page.base.seq).toBeLessThan(before - 1);
      const folded = fold(page.events, page.base);
      expect(folded.seq).toBe(before - 1);
      shown = prepend(folded, shown);
      before = page.base.seq + 1;
    }
    expect(shown).toEqual(whole);
    const most = (what: 'bytes' | 'ms') => Math.max(...pages.map((page) => page[what]));
    expect(most('bytes')).toBeLessThan(maxPage);

    const all = JSON.stringify(events).length;
    report(
      [
        `one turn of ${events.length} events in ${whole.active?.steps.length ?? 0} steps, ${all} bytes of JSON, ${statSync(house.log(sessionId)).size} of log (${state}; start ${startMs} ms):`,
        `  first screen ${firstBytes} bytes in ${firstMs} ms, with ${stepsOnFirst} steps;`,
        `  ${pages.length} pages of ${Math.min(...pages.map((page) => page.bytes))} to ${most('bytes')} bytes, the slowest ${most('ms')} ms; all together ${pages.reduce((sum, page) => sum + page.bytes, firstBytes)} bytes`,
      ].join('\n'),
    );
  },
);
