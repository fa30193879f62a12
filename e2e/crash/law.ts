/**
 * The crash law: what must hold of every session after a kill, whatever moved. Each sentence is a check that throws a `LawBroken`:
 *
 *   L1  nothing that stood in a log is changed; opening appends only
 *   L2  what a client was shown stands in the log as it was shown
 *   L3  `seq` has no gap, no event fails to fit, nothing is queued, claimed, requested, started or ended twice
 *   L4  each acknowledged input is there exactly once; each command has had at most one effect
 *   L5  each requested call has one end, or waits in a turn at rest
 *   L6  nothing ran twice; what is said to have completed ran, what is said not to have run did not
 *   L7  no process of a killed daemon is left
 *   L8  no file is half written
 *   L9  the list, the pages and the tail tell what the log tells
 *   L10 no request was one that a vendor refuses
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { prepend } from '#protocol/conversation/base.ts';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { atRest } from '#protocol/conversation/open.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { lives } from '../support/lives.ts';
import { pageText, tokenIn } from './model.ts';
import { LawBroken, type World } from './world.ts';

type Fields = SessionEvent & Record<string, unknown>;

export function require(holds: boolean, law: string, what: () => string): asserts holds {
  if (!holds) throw new LawBroken(`${law}: ${what()}`);
}

/** L1. `before`: read after the kill; `after`: read once the daemon had opened it again. */
export function keptWhole(sessionId: SessionId, before: readonly SessionEvent[], after: readonly SessionEvent[]): void {
  for (const [place, event] of before.entries())
    require(isDeepStrictEqual(event, after[place]), 'L1', () =>
      `${sessionId}: event ${event.seq} was ${JSON.stringify(event)} and is ${JSON.stringify(after[place])}`);
}

/** L2. Increments may have been shown as one; then their text is compared. */
export function shownIsThere(
  sessionId: SessionId,
  seen: readonly SessionEvent[],
  events: readonly SessionEvent[],
): void {
  for (const event of seen) {
    const { from } = event as Fields;
    const there = events[event.seq - 1];
    if (from === undefined) {
      const same = isDeepStrictEqual(event, there);
      require(same, 'L2', () => `${sessionId}: ${JSON.stringify(event)} was shown, ${JSON.stringify(there)} is there`);
      continue;
    }
    const text = events.slice(from - 1, event.seq).map((one) => (one as Fields)['text'] as string);
    require(text.join('') === (event as Fields)['text'], 'L2', () =>
      `${sessionId}: events ${String(from)} to ${event.seq}`);
  }
}

/** L3 and L5; returns what the log folds to. */
export function soundFold(sessionId: SessionId, events: readonly SessionEvent[]): Conversation {
  for (const [place, event] of events.entries())
    require(event.seq === place + 1, 'L3', () => `${sessionId}: event ${event.seq} stands at place ${place + 1}`);
  const conversation = events.reduce(reduce, emptyConversation);
  require(conversation.anomalies.length === 0, 'L3', () => `${sessionId}: ${JSON.stringify(conversation.anomalies)}`);
  const ids = (type: string, field: string) =>
    events.flatMap((event) => (event.type === type ? [(event as Fields)[field]].flat() : []) as string[]);
  for (const [type, field] of [
    ['input.queued', 'inputId'],
    ['input.claimed', 'inputIds'],
    ['tool-call.requested', 'callId'],
    ['tool-call.started', 'callId'],
    ['tool-call.ended', 'callId'],
    ['approval.resolved', 'approvalId'],
    ['turn.ended', 'turnId'],
    ['step.ended', 'stepId'],
  ] as const) {
    const all = ids(type, field);
    require(new Set(all).size === all.length, 'L3', () => `${sessionId}: a ${type} comes twice for one ${field}`);
  }
  const ended = new Set(ids('tool-call.ended', 'callId'));
  const open = new Set(callsOf(conversation, true).map((call) => call.callId as string));
  for (const callId of ids('tool-call.requested', 'callId'))
    require(ended.has(callId) || open.has(callId), 'L5', () => `${sessionId}: ${callId} has no end and waits nowhere`);
  return conversation;
}

/** L5, the other half: what rests after a restart rests with nothing moving in it. */
export function rests(sessionId: SessionId, conversation: Conversation): void {
  require(atRest(conversation), 'L5', () => `${sessionId} is said to rest, and something in its turn moves`);
}

/** L4. */
export function acknowledgedIsThere(world: World, sessionId: SessionId, events: readonly SessionEvent[]): void {
  const marked = new Map<string, number>();
  for (const { command } of events)
    if (command !== undefined) marked.set(command.id, (marked.get(command.id) ?? 0) + 1);
  for (const { method, params, seq } of world.ledger) {
    if (params.sessionId !== sessionId) continue;
    const times = marked.get(params.commandId) ?? 0;
    require(times <= 1, 'L4', () => `${sessionId}: ${method} ${params.commandId} stands there ${times} times`);
    const must =
      seq !== null && (method === 'session.submit' || method === 'session.create' || method === 'approval.answer');
    require(times === 1 || !must, 'L4', () =>
      `${sessionId}: ${method} ${params.commandId} was acknowledged and is not there`);
    const at = events.find(({ command }) => command?.id === params.commandId)?.seq;
    // One that had changed nothing, and was sent again, may have changed something then.
    require(!must || at === undefined || at <= seq, 'L4', () =>
      `${sessionId}: ${method} was answered ${seq} and stands at ${at}`);
  }
}

/** L6. `ran`: the tokens that commands left, of all sessions. */
export function ranOnce(sessionId: SessionId, conversation: Conversation, ran: ReadonlyMap<string, number>): void {
  for (const call of callsOf(conversation, false)) {
    if (call.tool !== 'bash') continue;
    const token = tokenIn(JSON.stringify(call.arguments ?? {}));
    if (token === null) continue;
    const times = ran.get(token) ?? 0;
    require(times <= 1, 'L6', () => `${sessionId}: ${call.callId} (${token}) ran ${times} times`);
    if (call.outcome === 'completed' || call.outcome === 'failed')
      require(times === 1, 'L6', () => `${sessionId}: ${call.callId} (${token}) ended ${call.outcome} and never ran`);
    if (
      call.outcome === 'denied' ||
      call.outcome === 'skipped' ||
      call.state === 'requested' ||
      call.state === 'waiting'
    )
      require(times === 0, 'L6', () =>
        `${sessionId}: ${call.callId} (${token}) is ${call.outcome ?? call.state} and ran`);
  }
}

/** L7. */
export function nobodyLeft(pids: readonly number[]): void {
  for (const pid of pids)
    require(!lives(pid), 'L7', () => `process ${pid} of a command outlived its daemon and the next start`);
}

/** L8. */
export async function filesWhole(world: World): Promise<void> {
  for (const place of [0, 1, 2]) {
    const text = await readFile(join(world.folder, `page-${place}.txt`), 'utf8').catch(() => null);
    const token = text === null ? null : tokenIn(text);
    require(text === null || (token !== null && text === pageText(token)), 'L8', () =>
      `page-${place}.txt is half of one`);
  }
  const notes = await readFile(join(world.folder, 'notes.md'), 'utf8');
  require(notes === '# Garden\n\nRoses\nFerns\nMoss\n', 'L8', () => `notes.md is ${JSON.stringify(notes)}`);
}

/** L9, of a session that rests: its row, and its history in pages put together. */
export async function toldAsItIs(world: World, sessionId: SessionId, conversation: Conversation): Promise<void> {
  const { sessions } = await world.daemon.call('session.list', { limit: 500 });
  const row = sessions.find((one) => one.sessionId === sessionId);
  require(row !== undefined && row.problem === null, 'L9', () =>
    `${sessionId} is ${row === undefined ? 'not listed' : (row.problem ?? '')}`);
  if (row.seq !== conversation.seq) return; // It went on meanwhile.
  // What sub-agents ask stands in the row too, and in their own logs.
  const own = row.requests.filter((request) => request.sessionId === undefined);
  const asked = own.map((request) => request.approvalId).sort();
  const open = conversation.approvals.map((approval) => approval.approvalId).sort();
  require(isDeepStrictEqual(asked, open), 'L9', () =>
    `${sessionId}: the list asks ${asked.join()}, the log ${open.join()}`);
  let shown: Conversation | null = null;
  for (let before = conversation.seq + 1; before > 1;) {
    const page = await world.daemon.call('session.page', { sessionId, before });
    const folded = page.events.reduce(reduce, page.base);
    require(folded.seq === before - 1, 'L9', () => `${sessionId}: the page before ${before} ends at ${folded.seq}`);
    shown = shown === null ? folded : prepend(folded, shown);
    before = page.base.seq + 1;
  }
  require(shown === null || isDeepStrictEqual(shown, conversation), 'L9', () =>
    `${sessionId}: its pages are not its log`);
}

/** Of all turns, or of the open one. */
function callsOf(conversation: Conversation, openOnly: boolean): ToolCall[] {
  const active = conversation.active === null ? [] : [conversation.active];
  const turns = openOnly ? active : [...conversation.turns, ...active];
  return turns.flatMap((turn) =>
    [...turn.steps, ...(turn.step === null ? [] : [turn.step])].flatMap((step) => step.calls),
  );
}
