/**
 * The fold of a long session, as a page does when it opens one and the daemon when it starts. Its limit is JSON.parse of the same events: who
 * reads events must at least parse them, and a fold that is quicker than that is never what somebody waits for. The second group shows that
 * an event costs the same however long the session is (F5).
 */
import { bench, describe } from 'vitest';
import type { SessionEvent } from '../event.ts';
import { fold } from '../testing/log-builder.ts';
import { workingSession } from '../testing/working-session.ts';
import { reduce } from './reduce.ts';

const short = { time: 500, warmupTime: 150 };
const work = workingSession(800);
const events = work.events.slice(0, 20_000);
const lines = events.map((event) => JSON.stringify(event));

describe('micro.fold: 20,000 events of one turn', () => {
  bench(
    'limit: JSON.parse of their lines',
    () => {
      for (const line of lines) JSON.parse(line);
    },
    short,
  );
  bench('ours', () => void fold(events), short);
});

describe('micro.fold-token: a delta at the end of 800 steps', () => {
  const long = work.step().says(['first '], 'text', 'open').conversation;
  const young = workingSession(0).step().says(['first '], 'text', 'open').conversation;
  const deltaOn = (to: typeof long): SessionEvent => {
    const partId = to.active?.step?.parts.at(-1)?.partId;
    if (partId === undefined) throw new Error('no part is open');
    return { seq: to.seq + 1, at: to.at, type: 'part.delta', partId, text: 'and on ' };
  };
  const [afterYoung, afterLong] = [deltaOn(young), deltaOn(long)];
  bench('limit: the same in the first step', () => void reduce(young, afterYoung), short);
  bench('ours', () => void reduce(long, afterLong), short);
});
