/**
 * The daemon is killed (SIGKILL) at moments chosen by chance and started again, ten times for each kind of moment, all on one home. What
 * stands in the log, what the interface says of it, and what the model is asked next must be as if nobody had pulled the plug.
 */
import { readFileSync } from 'node:fs';
import { truncate } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { callDelta, chatReply, chunkReply, delta } from '../../daemon/testing/openai-server.ts';
import { walkHeaders } from '../../daemon/log/reader.ts';
import { newCommandId } from '../support/daemon.ts';
import { Chance } from './chance.ts';
import {
  callsOf,
  fold,
  House,
  report,
  say,
  soundFold,
  spoken,
  textIn,
  timesThere,
  unfinished,
  type Follower,
} from './house.ts';
import { lives } from '../support/lives.ts';

const times = 10;
const words = Array.from({ length: 200 }, (_, place) => `leaf-${place} `);

/** Each round ends with its turn closed; no later kill may change a byte of it. */
async function tenTimes(house: House, name: string, round: (chance: Chance, number: number) => Promise<SessionId>) {
  const chance = new Chance();
  const logs = new Map<SessionId, Buffer>();
  for (let number = 1; number <= times; number += 1) {
    try {
      const sessionId = await round(chance, number);
      logs.set(sessionId, readFileSync(house.log(sessionId)));
    } catch (error) {
      throw new Error(`round ${number}, KILL_SEED=${chance.seed}`, { cause: error });
    }
  }
  for (const [sessionId, bytes] of logs) expect(readFileSync(house.log(sessionId)).equals(bytes)).toBe(true);
  report(`killed ${name}: ${logs.size} of ${times} as it should be (seed ${chance.seed})`);
}

/** Kills it, and waits until the follower's socket has told all that had been sent. */
async function kill(house: House, follower: Follower): Promise<SessionEvent[]> {
  await house.daemon.kill();
  await follower.client.closed;
  return follower.events;
}

/** The log, read by the command line; what a page gets that goes on after what it had seen must fold to the same. */
async function afterKill(house: House, sessionId: SessionId, seen: readonly SessionEvent[]) {
  const events = await house.exported(sessionId);
  const conversation = soundFold(events);
  const again = await house.follow(sessionId, seen.at(-1)?.seq ?? 0);
  if (again.seq < conversation.seq && seen.at(-1)?.seq !== conversation.seq)
    await again.until((event) => event.seq >= conversation.seq);
  expect(fold([...seen, ...again.events.filter((event) => event.seq <= conversation.seq)])).toEqual(conversation);
  return { events, conversation, again };
}

/** Leaves the frames of a log up to the one that holds this seq: as a kill right after that write leaves it. */
async function cutBehind(log: string, seq: number): Promise<void> {
  for await (const found of walkHeaders(log))
    if (found.kind === 'frame' && found.firstSeq + found.count > seq) return truncate(log, found.end);
}

/** Says something more and returns what the model is asked then. */
async function nextRequest(house: House, sessionId: SessionId, again: Follower, turn: number): Promise<string[]> {
  const before = house.provider.requests.length;
  house.provider.enqueue(chatReply({ text: 'Going on.' }));
  await house.submit(sessionId, 'Go on.');
  const lines = spoken(await house.provider.request(before + 1));
  expect(await again.turnEnded(turn)).toBe('completed');
  expect(house.provider.requests).toHaveLength(before + 1);
  soundFold(await house.events(sessionId));
  return lines;
}

describe('killed ten times', { timeout: 180_000 }, () => {
  it('RT4 RT8 RT24 in the middle of a reply: its words that were seen are kept, it is closed, nothing is asked by itself', async () => {
    const house = await House.open();
    await house.daemon.start();
    await tenTimes(house, 'in a reply', async (chance, number) => {
      const { provider } = house;
      const before = provider.requests.length;
      const kind = (['text', 'reasoning', 'call'] as const)[number % 3];
      const path = `never-${number}.txt`;
      const command = JSON.stringify({ command: `echo ran >> ${path}` });
      const chunks = [
        ...(kind === 'reasoning' ? [delta({ reasoning_content: 'I count.' })] : []),
        ...words.map((content) => delta({ content })),
        ...(kind === 'call'
          ? [
              callDelta({ index: 0, id: 'call_1', type: 'function', function: { name: 'bash', arguments: '' } }),
              ...[...command].map((piece) => callDelta({ index: 0, function: { arguments: piece } })),
            ]
          : []),
      ];
      provider.enqueue(unfinished(chunkReply(chunks, { delayMs: 1 })));
      const sessionId = await house.session('auto', `Count, ${number}.`);
      const follower = await house.follow(sessionId);
      const enough = 1 + chance.below(words.length - 20);
      if (kind === 'call')
        await follower.until((event) => event.type === 'part.started' && event['kind'] === 'tool-call');
      else await follower.client.when(() => (follower.text.includes(`leaf-${enough} `) ? true : undefined));
      await chance.moment();
      const seen = await kill(house, follower);
      await house.daemon.start();

      const { events, conversation, again } = await afterKill(house, sessionId, seen);
      const kept = textIn(events);
      expect(kept.startsWith(textIn(seen))).toBe(true);
      expect(words.join('').startsWith(kept)).toBe(true);
      expect(conversation.active).toBeNull();
      expect(conversation.turns.map((turn) => [turn.outcome, turn.steps.map((step) => step.outcome)])).toEqual([
        ['interrupted', ['interrupted']],
      ]);
      expect(callsOf(conversation)).toEqual([]);
      expect(await house.row(sessionId)).toMatchObject({ state: 'interrupted', driver: 'idle', requests: [] });
      expect(provider.requests).toHaveLength(before + 1);

      expect(await nextRequest(house, sessionId, again, 2)).toEqual([
        `user: Count, ${number}.`,
        `assistant: ${kept}`,
        'user: Go on.',
      ]);
      expect(house.read(path)).toBe('');
      return sessionId;
    });
  });

  it('C04 RT4 RT24 in the middle of a call: each call has one end, no process is left, nothing runs again', async () => {
    const house = await House.open();
    await house.daemon.start();
    await tenTimes(house, 'in a tool call', async (chance, number) => {
      const name = `round${number}`;
      house.provider.enqueue(
        chatReply({
          text: 'Working.',
          calls: [
            { tool: 'read', arguments: { path: 'notes.md' } },
            { tool: 'bash', arguments: { command: `bash work.sh ${name}` } },
            { tool: 'bash', arguments: { command: `echo never >> runs-${name}.txt` } },
          ],
        }),
      );
      const sessionId = await house.session('auto', 'Work.');
      const follower = await house.follow(sessionId);
      const output = () =>
        follower.events.map((event) => (event.type === 'tool-call.output' ? (event['text'] as string) : '')).join('');
      const enough = `tick ${chance.below(20)}\n`;
      await follower.client.when(() => (output().includes(enough) ? true : undefined));
      await chance.moment();
      const pids = [house.pid(`near-${name}.pid`), house.pid(`far-${name}.pid`)];
      expect(pids.map(lives)).toEqual([true, true]);
      const seen = await kill(house, follower);
      await house.daemon.start();
      expect(pids.map(lives)).toEqual([false, false]);

      const { conversation, again } = await afterKill(house, sessionId, seen);
      const calls = callsOf(conversation);
      expect(calls.map((call) => call.outcome)).toEqual(['completed', 'interrupted', 'skipped']);
      expect(conversation.lastOutcome).toBe('interrupted');
      expect(conversation.warnings.map((warning) => warning.code)).toEqual(['orphans_ended', 'interrupted']);
      expect(await house.row(sessionId)).toMatchObject({ state: 'interrupted', driver: 'idle' });

      const lines = await nextRequest(house, sessionId, again, 2);
      expect(lines.map((line) => line.slice(0, 60))).toEqual([
        'user: Work.',
        'assistant: Working. <- read(c00000001) <- bash(c00000002) <- bash(c00000003)'.slice(0, 60),
        expect.stringMatching(/^tool c00000001: .*Garden/),
        expect.stringMatching(/^tool c00000002: Interrupted: Alcove stopped while this ran/),
        expect.stringMatching(/^tool c00000003: Not run: Alcove stopped/),
        'user: Go on.',
      ]);
      // What the page had seen of the output, the model is told too (up to what a result may hold).
      expect(lines[3]).toContain(output().slice(0, 1000));
      expect(house.read(`runs-${name}.txt`)).toBe(`${name}\n`);
      return sessionId;
    });
  });

  it('RT25 US1 C22 with an approval open: it is asked again with its age, and the answer goes on with the turn', async () => {
    const house = await House.open();
    await house.daemon.start();
    await tenTimes(house, 'with an approval open', async (chance, number) => {
      const { daemon, provider } = house;
      const before = provider.requests.length;
      const file = `asked-${number}.txt`;
      provider.enqueue(
        chatReply({
          text: 'May I?',
          calls: [
            { tool: 'read', arguments: { path: 'notes.md' } },
            { tool: 'bash', arguments: { command: `echo first >> ${file}` } },
            { tool: 'bash', arguments: { command: `echo second >> ${file}` } },
          ],
        }),
      );
      const sessionId = await house.session('ask', 'Ask.');
      const follower = await house.follow(sessionId);
      const asked = await follower.kind('approval.requested');
      await chance.moment();
      const seen = await kill(house, follower);
      await daemon.start();

      const { events, again } = await afterKill(house, sessionId, seen);
      // At rest: not a single event was needed to survive it.
      expect(events.at(-1)).toEqual(asked);
      const [request, ...others] = (await house.row(sessionId)).requests;
      expect(others).toEqual([]);
      expect(request).toMatchObject({ approvalId: 'apr_1', at: asked.at, target: `echo first >> ${file}` });
      const page = await house.connect();
      const notice = await page.notice(({ topic, session }) => topic === 'session' && session.state === 'waiting');
      expect(notice.params).toMatchObject({
        session: { sessionId, requests: [{ approvalId: 'apr_1', at: asked.at }] },
      });
      expect(house.read(file)).toBe('');
      expect(provider.requests).toHaveLength(before + 1);

      provider.enqueue(chatReply({ text: 'Thank you.' }));
      const answer = (approvalId: string, decision: 'allow' | 'deny') => ({
        commandId: newCommandId(),
        sessionId,
        approvalId: approvalId as `apr_1` & Parameters<typeof daemon.call<'approval.answer'>>[1]['approvalId'],
        decision,
        scope: 'once' as const,
      });
      const allow = answer('apr_1', 'allow');
      const { seq } = await daemon.call('approval.answer', allow);
      expect(await daemon.call('approval.answer', allow)).toEqual({ seq });
      await again.kind('approval.requested');
      await daemon.call('approval.answer', answer('apr_2', 'deny'));
      expect(await again.turnEnded()).toBe('completed');
      await expect(daemon.call('approval.answer', answer('apr_1', 'deny'))).rejects.toThrow(/no longer open/);
      expect(spoken(await provider.request(before + 2))).toEqual([
        'user: Ask.',
        'assistant: May I? <- read(c00000001) <- bash(c00000002) <- bash(c00000003)',
        expect.stringMatching(/^tool c00000001: .*Garden/),
        'tool c00000002: (no output)',
        'tool c00000003: Denied by the person; it did not run.',
      ]);
      expect(provider.requests).toHaveLength(before + 2);
      expect(house.read(file)).toBe('first\n');
      expect(soundFold(await house.events(sessionId)).turns.map((turn) => turn.outcome)).toEqual(['completed']);
      return sessionId;
    });
  });

  it('RT8 RT24 right behind the answer to an approval: it counts once, and its command runs once or says that it was interrupted', async () => {
    const house = await House.open();
    await house.daemon.start();
    await tenTimes(house, 'right behind the answer to an approval', async (chance, number) => {
      const { daemon, provider } = house;
      const file = `answered-${number}.txt`;
      provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command: `echo ran >> ${file}` } }] }));
      const sessionId = await house.session('ask', 'Ask.');
      const follower = await house.follow(sessionId);
      await follower.kind('approval.requested');
      const answer = { commandId: newCommandId(), sessionId, decision: 'allow', scope: 'once' } as const;
      const [request] = (await house.row(sessionId)).requests;
      if (request === undefined) throw new Error('an approval should be open');
      const params = { ...answer, approvalId: request.approvalId };
      const { seq } = await daemon.call('approval.answer', params);
      await chance.moment();
      const seen = await kill(house, follower);
      await daemon.start();

      const { conversation, again } = await afterKill(house, sessionId, seen);
      expect(await daemon.call('approval.answer', params)).toEqual({ seq });
      const asked = provider.requests.length;
      provider.enqueue(chatReply({ text: 'Done.' }));
      if (conversation.active === null) await house.submit(sessionId, 'Go on.');
      else if (again.seq <= seq) await daemon.call('session.resume', { commandId: newCommandId(), sessionId });
      const lines = spoken(await provider.request(asked + 1));
      await again.turnEnded(conversation.active === null ? 2 : 1);
      const [call] = callsOf(soundFold(await house.events(sessionId)));
      expect(['completed', 'interrupted']).toContain(call?.outcome);
      expect(lines.filter((line) => line.startsWith('tool '))).toHaveLength(1);
      expect(house.read(file)).toMatch(call?.outcome === 'completed' ? /^ran\n$/ : /^(ran\n)?$/);
      return sessionId;
    });
  });

  it('RT8 RT24 between the acknowledgement of queued inputs and their claim: each is there once and reaches the model once', async () => {
    const house = await House.open();
    await house.daemon.start();
    await tenTimes(house, 'between acknowledgement and claim, queued behind a turn', async (chance, number) => {
      const { daemon, provider } = house;
      provider.enqueue(unfinished(chatReply({ text: ['Busy', ' now.'] })));
      const sessionId = await house.session('auto', 'Be busy.');
      const follower = await house.follow(sessionId);
      await follower.client.when(() => (follower.text === 'Busy now.' ? true : undefined));
      const targets = (['next-turn', 'next-step', 'next-turn'] as const).slice(0, 1 + (number % 3));
      const submitted = [];
      for (const [place, target] of targets.entries())
        submitted.push(await house.submit(sessionId, `Then ${place}.`, target));
      if (chance.below(2) === 1) await chance.moment();
      const seen = await kill(house, follower);
      await daemon.start();

      const { conversation, again } = await afterKill(house, sessionId, seen);
      expect(conversation.inbox.map((input) => [input.inputId, input.target])).toEqual(
        submitted.map(({ params }) => [params.commandId, params.target]),
      );
      expect(await house.row(sessionId)).toMatchObject({ state: 'queued', lastOutcome: 'interrupted' });
      // Who was not sure that it had arrived sends it again, and nothing is there twice.
      for (const { params, seq } of submitted) expect(await daemon.call('session.submit', params)).toEqual({ seq });

      const before = provider.requests.length;
      const turns = Math.max(1, targets.filter((target) => target === 'next-turn').length);
      for (let turn = 0; turn < turns; turn += 1) provider.enqueue(chatReply({ text: `Turn ${turn}.` }));
      await daemon.call('session.resume', { commandId: newCommandId(), sessionId });
      for (let turn = 2; turn <= turns + 1; turn += 1) expect(await again.turnEnded(turn)).toBe('completed');
      expect(provider.requests).toHaveLength(before + turns);
      const last = spoken(await provider.request(before + turns));
      expect(last.slice(0, 2)).toEqual(['user: Be busy.', 'assistant: Busy now.']);
      expect(last.filter((line) => line.startsWith('user: Then')).sort()).toEqual(
        targets.map((_, place) => `user: Then ${place}.`),
      );
      const whole = soundFold(await house.events(sessionId));
      expect(submitted.map(({ inputId }) => timesThere(whole, inputId))).toEqual(targets.map(() => 1));
      return sessionId;
    });
  });

  it('RT8 RT24 right behind the acknowledgement of a first input: it is there once, waits or was claimed, and reaches the model once', async () => {
    const house = await House.open();
    await house.daemon.start();
    const found = { waited: 0, claimed: 0 };
    await tenTimes(house, 'between acknowledgement and claim, first input', async (chance, number) => {
      const { daemon, provider } = house;
      const before = provider.requests.length;
      const inOne = number % 2 === 0;
      const sessionId = await (inOne ? house.session('auto', 'Begin.') : house.session('auto'));
      const submitted = inOne ? null : await house.submit(sessionId, 'Begin.');
      if (chance.below(2) === 1) await chance.moment();
      // Nothing is scripted: what is asked before the kill hangs until then.
      await daemon.kill();
      // The claim follows within a millisecond, which no kill from outside hits: half of the logs are cut to what a kill then would have left.
      if (submitted !== null) await cutBehind(house.log(sessionId), submitted.seq);
      const asked = provider.requests.length;
      provider.enqueue(chatReply({ text: 'Begun.' }));
      await daemon.start();

      const again = await house.follow(sessionId);
      // By itself where it had only been queued; where a step had claimed it, a person says when.
      await again.until((event) => event.type === 'turn.ended');
      const first = soundFold(await house.events(sessionId));
      const waited = first.lastOutcome === 'completed';
      found[waited ? 'waited' : 'claimed'] += 1;
      if (submitted !== null)
        expect(await daemon.call('session.submit', submitted.params)).toEqual({ seq: submitted.seq });
      if (!waited) {
        expect(first.lastOutcome).toBe('interrupted');
        await daemon.call('session.submit', {
          commandId: newCommandId(),
          sessionId,
          target: 'next-turn',
          parts: say('Go on.'),
        });
        expect(await again.turnEnded(2)).toBe('completed');
      }
      expect(asked - before).toBeLessThanOrEqual(1);
      expect(provider.requests).toHaveLength(asked + 1);
      expect(spoken(await provider.request(asked + 1))).toEqual(['user: Begin.', ...(waited ? [] : ['user: Go on.'])]);
      const whole = soundFold(await house.events(sessionId));
      const inputs = whole.turns.flatMap((turn) => turn.steps.flatMap((step) => step.inputs));
      expect(inputs).toHaveLength(waited ? 1 : 2);
      return sessionId;
    });
    report(`  of these ${found.waited} still waited and began by themselves, ${found.claimed} had been claimed`);
  });
});
