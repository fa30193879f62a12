import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { atStepBoundary } from '#protocol/conversation/base.ts';
import { emptyConversation } from '#protocol/conversation/conversation.ts';
import { openWork } from '#protocol/conversation/open.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import { goldenLogs } from '#protocol/testing/golden-logs.ts';
import { homePaths, makeOwnerOnlyFolder } from '../base/files.ts';
import { readFrames, walkHeaders } from '../log/reader.ts';
import { LogWriter } from '../log/writer.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { CountingIds, sessionIdOf, temporaryHome } from '../testing/temporary-home.ts';
import { forkSession } from './fork.ts';
import { History } from './history.ts';
import { placeInHome } from './place.ts';
import type { Session, SessionOptions } from './session.ts';

const clock = new ManualClock(Date.UTC(2026, 5, 1));
const options: SessionOptions = { clock, owner: 'the daemon', durability: 'kernel' };
const mark = new CountingIds(clock).mark();

async function linesOf(path: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const found of readFrames(path)) if (found.kind === 'frame') lines.push(...found.lines);
  return lines;
}

/** A home with one log of these lines, in frames of five events; and a way to fork it. */
async function homeWith(lines: readonly string[]) {
  const home = await temporaryHome();
  const source = placeInHome(home, sessionIdOf(1));
  const writer = await LogWriter.create(source.log);
  for (let at = 0; at < lines.length; at += 5) await writer.append(lines.slice(at, at + 5), at + 1);
  await writer.close();
  const history = await History.open(source.log);
  onTestFinished(() => history.close());
  const fork = async (upTo: number, number: number): Promise<Session> => {
    const sessionId = sessionIdOf(number);
    const target = { place: placeInHome(home, sessionId), sessionId };
    const session = await forkSession({ history, sessionId: sessionIdOf(1) }, upTo, target, options, mark);
    onTestFinished(() => session.close());
    return session;
  };
  return { home, source, fork };
}

describe.each(Object.entries(goldenLogs))('a fork of the golden log %s', (_, build) => {
  const { events } = build();
  const lines = events.map((event) => JSON.stringify(event));

  test('can be made at each step boundary and nowhere else; it copies verbatim, has nothing open, and leaves its source alone (RT5)', async () => {
    const { home, source, fork } = await homeWith(lines);
    const before = readFileSync(source.log);
    const check = async (seq: number, boundary: boolean) => {
      if (!boundary) {
        await expect(fork(seq, seq + 1)).rejects.toMatchObject({ code: 'conflict' });
        expect(existsSync(placeInHome(home, sessionIdOf(seq + 1)).log)).toBe(false);
        return;
      }
      const session = await fork(seq, seq + 1);
      const made = session.conversation;
      expect({
        sessionId: made.session?.sessionId,
        parent: made.session?.parent,
        open: openWork(made),
        inbox: made.inbox,
        approvals: made.approvals,
        wrong: made.anomalies,
      }).toEqual({
        sessionId: sessionIdOf(seq + 1),
        parent: { sessionId: sessionIdOf(1), seq },
        open: null,
        inbox: [],
        approvals: [],
        wrong: [],
      });
      const copied = await linesOf(session.place.log);
      expect(copied.slice(0, seq)).toEqual(lines.slice(0, seq));
      expect(JSON.parse(copied[seq] ?? '')).toMatchObject({ type: 'session.forked', command: mark });
      await session.close();
    };
    let conversation = emptyConversation;
    const checks: (() => Promise<void>)[] = [];
    for (const event of events) {
      conversation = reduce(conversation, event);
      const { seq } = conversation;
      const boundary = atStepBoundary(conversation);
      // Of many steps that are all alike some are enough.
      if (seq < 60 || seq % 9 === 0 || seq > events.length - 8) checks.push(() => check(seq, boundary));
    }
    for (let from = 0; from < checks.length; from += 16)
      await Promise.all(checks.slice(from, from + 16).map((one) => one()));
    expect(readFileSync(source.log)).toEqual(before);
    expect(readdirSync(join(home.sessions, 'forking'))).toEqual([]);
  });
});

test('a fork behind the end of its source is refused, and so is one behind damage; up to the damage it can be made', async () => {
  const lines = goldenLogs['twenty-steps']?.().events.map((event) => JSON.stringify(event)) ?? [];
  const { home, source, fork } = await homeWith(lines);
  await expect(fork(lines.length + 5, 2)).rejects.toMatchObject({ code: 'conflict' });
  const boundaries: number[] = [];
  let conversation = emptyConversation;
  for (const line of lines) {
    conversation = reduce(conversation, JSON.parse(line) as never);
    if (atStepBoundary(conversation)) boundaries.push(conversation.seq);
  }
  const frames = [];
  for await (const found of walkHeaders(source.log)) if (found.kind === 'frame') frames.push(found);
  const hurt = frames[10];
  if (hurt === undefined) throw new Error('there should be a frame');
  const bytes = readFileSync(source.log);
  bytes[hurt.end - 2] = (bytes[hurt.end - 2] ?? 0) ^ 0xff;
  writeFileSync(source.log, bytes);
  const before = boundaries.findLast((seq) => seq < hurt.firstSeq) ?? 0;
  const behind = boundaries.find((seq) => seq >= hurt.firstSeq) ?? 0;
  await expect(fork(behind, 3)).rejects.toMatchObject({ code: 'read_only' });
  expect((await fork(before, 4)).conversation.session?.parent?.seq).toBe(before);
  expect(readdirSync(home.sessions).filter((name) => name.endsWith('.zst'))).toHaveLength(2);
});

test('a fork of a long session opens on its tail alone', async () => {
  const steps = Array.from({ length: 400 }, (_, place) => step(place + 1)).flat();
  const first = JSON.parse(JSON.stringify(goldenLogs['twenty-steps']?.().events.slice(0, 4))) as { seq: number }[];
  const lines = [...first, ...steps].map((event, place) => JSON.stringify({ ...event, seq: place + 1 }));
  const { fork } = await homeWith(lines);
  const session = await fork(lines.length, 2);
  const base = await session.tail(1000);
  expect(base.seq).toBeGreaterThan(lines.length * 0.8);
});

test('the folder of a fork that was killed half-way is no session, and does not hinder the next try', async () => {
  const lines =
    goldenLogs['tools-and-approval']?.()
      .events.slice(0, 4)
      .map((event) => JSON.stringify(event)) ?? [];
  const { home, fork } = await homeWith(lines);
  await makeOwnerOnlyFolder(join(home.sessions, 'forking'));
  const { log } = placeInHome(homePaths(home.home), sessionIdOf(2));
  writeFileSync(join(home.sessions, 'forking', log.slice(home.sessions.length + 1)), 'half');
  expect((await fork(3, 2)).seq).toBeGreaterThan(3);
  expect(statSync(log).size).toBeGreaterThan(0);
});

function step(number: number): object[] {
  const at = clock.now();
  const turnId = 'trn_1';
  const [stepId, partId] = [`stp_${number}`, `prt_${number}`];
  return [
    { at, type: 'step.started', turnId, stepId, model: 'scripted/demo', effort: null, mode: 'ask' },
    { at, type: 'part.started', stepId, partId, kind: 'text' },
    { at, type: 'part.delta', partId, text: 'leaf '.repeat(300) },
    { at, type: 'part.ended', partId },
    { at, type: 'step.replied', stepId, stop: 'end', usage: null, cost: null, firstTokenMs: 1, totalMs: 2 },
    { at, type: 'step.ended', stepId, outcome: 'completed' },
  ];
}
