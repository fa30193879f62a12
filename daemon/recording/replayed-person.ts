/**
 * The person of a replay: answers what was answered, as it was, and holds how calls and turns end against how they ended. What nobody answered
 * in the recording is a difference, unless the person stopped the run instead.
 */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { isKnown, type SessionEvent } from '#protocol/event.ts';
import type { ApprovalId, QuestionId } from '#protocol/values/ids.ts';
import type { JsonObject } from '#protocol/values/json.ts';
import type { EntryOf } from './format.ts';
import { placeBelow } from './recorder.ts';
import type { Recording } from './recording.ts';

type Answer =
  | {
      type: 'approval';
      answer: {
        approvalId: ApprovalId;
        decision: 'allow' | 'deny';
        scope: 'once' | 'session' | 'always';
        by: string;
        note?: string;
        arguments?: JsonObject;
      };
    }
  | { type: 'question'; reply: { questionId: QuestionId; option?: number; text?: string; by: string } };

type Facts = NonNullable<Conversation['session']>;
const by = 'the recording';

export class ReplayedPerson {
  readonly #recording: Recording;
  readonly #difference: (what: string) => void;
  /** The place of each agent in the tree, by its session. */
  readonly #places = new Map<string, string>();
  readonly #answered = new Set<EntryOf<'answered'> | EntryOf<'replied'>>();
  readonly #unanswered = new Set<string>();
  readonly #ended = new Set<EntryOf<'call-ended'>>();
  #turns = 0;

  constructor(recording: Recording, difference: (what: string) => void) {
    this.#recording = recording;
    this.#difference = difference;
  }

  /** The turn that goes on just now was stopped by the person. */
  get stopsNext(): boolean {
    return this.#ownTurns[this.#turns]?.outcome === 'aborted';
  }

  heard({ sessionId, spawned }: Facts, event: SessionEvent): void {
    if (!isKnown(event)) return;
    if (event.type === 'session.created') {
      const above = spawned == null ? null : (this.#places.get(spawned.sessionId) ?? '');
      this.#places.set(sessionId, placeBelow(above, spawned?.callId));
    }
    const agent = this.#places.get(sessionId) ?? '';
    if (event.type === 'tool-call.ended') this.#callEnded(agent, event.callId, event.outcome);
    if (event.type === 'turn.ended' && agent === '') this.#turnEnded(event.outcome);
  }

  /** What the person says to what this agent asks just now; null where it asks nothing, or was answered already. */
  answerTo({ session, approvals, questions }: Conversation): Answer | 'stop' | null {
    const agent = this.#places.get(session?.sessionId ?? '') ?? '';
    for (const { approvalId, title } of approvals) {
      const found = this.#take(agent, (one) => one.type === 'answered' && one.approvalId === approvalId);
      if (found?.type === 'answered') return { type: 'approval', answer: approvalOf(found, approvalId) };
      if (this.#nobody(agent, approvalId, title)) return 'stop';
    }
    for (const question of questions) {
      const { questionId, text } = question;
      const found = this.#take(agent, (one) => one.type === 'replied' && one.questionId === questionId);
      if (found?.type === 'replied') return { type: 'question', reply: replyOf(found, question) };
      if (this.#nobody(agent, questionId, text)) return 'stop';
    }
    return null;
  }

  /** What of the recording did not come, a sentence each. */
  left(): string[] {
    const { answers, callEnds } = this.#recording;
    const turns = this.#ownTurns.length;
    return [
      ...callEnds
        .filter((one) => !this.#ended.has(one))
        .map(
          ({ agent, callId, outcome }) =>
            `The call ${agent}${callId} did not end; in the recording it ended ${outcome}.`,
        ),
      ...(this.#turns < turns ? [`The recording has ${turns} turns; ${this.#turns} came.`] : []),
      ...(this.#answered.size < answers.length ? ['An answer of the recording was not asked for.'] : []),
    ];
  }

  get #ownTurns() {
    return this.#recording.turnEnds.filter(({ agent }) => agent === '');
  }

  #callEnded(agent: string, callId: string, outcome: string): void {
    const recorded = this.#recording.callEnds.find((one) => one.agent === agent && one.callId === callId);
    if (recorded === undefined)
      this.#difference(`The call ${agent}${callId} ended ${outcome}, and not in the recording.`);
    else if (recorded.outcome !== outcome)
      this.#difference(`The call ${agent}${callId} ended ${outcome}; in the recording it ended ${recorded.outcome}.`);
    if (recorded !== undefined) this.#ended.add(recorded);
  }

  #turnEnded(outcome: string): void {
    const recorded = this.#ownTurns[this.#turns];
    this.#turns += 1;
    if (recorded === undefined) this.#difference(`Turn ${this.#turns} ended ${outcome}, and not in the recording.`);
    else if (recorded.outcome !== outcome)
      this.#difference(`Turn ${this.#turns} ended ${outcome}; in the recording it ended ${recorded.outcome}.`);
  }

  #take(agent: string, fits: (one: Recording['answers'][number]) => boolean) {
    const found = this.#recording.answers.find((one) => one.agent === agent && !this.#answered.has(one) && fits(one));
    if (found !== undefined) this.#answered.add(found);
    return found;
  }

  /** True where the person stopped the run instead of answering. Each request is looked at once: its answer is under way, or there is none. */
  #nobody(agent: string, id: string, what: string): boolean {
    const known = this.#unanswered.has(`${agent}${id}`) || this.#wasAnswered(agent, id);
    this.#unanswered.add(`${agent}${id}`);
    if (known) return false;
    if (this.stopsNext) return true;
    this.#difference(`It is asked "${what}", to which the recording has no answer.`);
    return false;
  }

  #wasAnswered(agent: string, id: string): boolean {
    return [...this.#answered].some(
      (one) => one.agent === agent && (one.type === 'answered' ? one.approvalId : one.questionId) === id,
    );
  }
}

function approvalOf({ decision, scope, note, arguments: changed }: EntryOf<'answered'>, approvalId: ApprovalId) {
  return {
    approvalId,
    decision,
    scope,
    by,
    ...(note === undefined ? {} : { note }),
    ...(changed === undefined ? {} : { arguments: changed as JsonObject }),
  };
}

/** An answer stands in the log as the option's label, and the words behind it. */
function replyOf({ answer, option }: EntryOf<'replied'>, { questionId, options }: Conversation['questions'][number]) {
  if (option === undefined) return { questionId, text: answer, by };
  const label = options[option]?.label ?? '';
  const text = answer.startsWith(`${label}: `) ? answer.slice(label.length + 2) : '';
  return { questionId, option, by, ...(text === '' ? {} : { text }) };
}
