/**
 * One session as this page holds it: its conversation, folded from the events with the shared fold and assigned at most once a repaint,
 * and what the person does with it. Nothing is shown that the log does not say: a submitted input appears when its event comes, an answer
 * when it is resolved. Until then a draft stays a draft, and what could not be acknowledged stands in `unsent`.
 */
import { isWhole, prepend } from '#protocol/conversation/base.ts';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import { titleOf } from '#protocol/conversation/status.ts';
import type { CommandName, Params, Result } from '#protocol/command.ts';
import type { DriverState, SessionSummary } from '#protocol/commands/session-values.ts';
import { RequestError, type ErrorCode } from '#protocol/errors.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { ApprovalScope } from '#protocol/events/approval.ts';
import type { InputTarget } from '#protocol/events/input.ts';
import type { InputPart } from '#protocol/values/content.ts';
import { z } from '#protocol/schema.ts';
import { sessionId as sessionIdShape } from '#protocol/values/ids.ts';
import type { ApprovalId, CommandId, InputId, JobId, MachineId, QuestionId, SessionId } from '#protocol/values/ids.ts';
import type { JsonObject } from '#protocol/values/json.ts';
import type { Effort, Mode } from '#protocol/values/model.ts';
import type { Clock, Ids } from '../base/clock.ts';
import { Repaint, type Frames } from '../base/repaint.ts';
import type { Storage } from '../base/storage.ts';
import type { Client } from '../connection/client.ts';
import type { ConnectionState } from '../connection/connection.ts';
import type { Subscription } from '../connection/subscription.ts';
import { AttachmentsState, type PreparePicture } from './attachments.svelte.ts';
import { DraftState } from './draft.svelte.ts';
import { isStale, UnsentStore, type UnsentInput } from './unsent.ts';

export type { UnsentInput } from './unsent.ts';

/** Enough for the newest turns of most sessions, and half of what opening one may transfer. */
const tailBytes = 96 * 1024;

/**
 * loading: nothing is there yet. live: all that the daemon has is here. catching-up: the connection is back, newer events are coming.
 * offline: no connection; what is here may be old. missing: the machine knows no such session.
 */
export type SessionPhase = 'loading' | 'live' | 'catching-up' | 'offline' | 'missing';

export interface SessionError {
  readonly code: ErrorCode;
  readonly message: string;
}

export interface SessionNeeds {
  readonly client: Pick<Client, 'call' | 'subscribe'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly frames: Frames;
  readonly storage: Storage;
  readonly machineId: MachineId;
  /** Getters of the app, read as they change. */
  readonly connection: () => ConnectionState;
  readonly summaryOf: (sessionId: SessionId) => SessionSummary | undefined;
  readonly preparePicture: PreparePicture;
}

/** Commands on this session without the ids that are filled in here. */
type Fields<Name extends CommandName> = Omit<Params<Name>, 'commandId' | 'sessionId'>;

export class SessionState {
  readonly sessionId: SessionId;
  /** What stands beside the draft. */
  readonly attachments: AttachmentsState;
  readonly #needs: SessionNeeds;
  readonly #draft: DraftState;
  readonly #unsentStore: UnsentStore;
  readonly #repaint: Repaint;
  #conversation = $state.raw<Conversation | null>(null);
  #caughtUp = $state(false);
  #refusal = $state.raw<SessionError | null>(null);
  #loadingEarlier = $state(false);
  #lastError = $state.raw<SessionError | null>(null);
  #unsent = $state.raw<readonly UnsentInput[]>([]);
  #sending = $state.raw<readonly UnsentInput[]>([]);
  /** Of those, the ones that stand in the list and no longer in the composer: the daemon is away. */
  #held = $state.raw<readonly InputId[]>([]);
  /** What the daemon said where it would not write. */
  #readOnly = $state.raw<string | null>(null);

  #subscription: Subscription | null = null;
  /** The newest fold, ahead of `#conversation` by what waits for the repaint, or by a base whose tail is still coming. */
  #folded: Conversation | null = null;
  #waiting: SessionEvent[] = [];
  /** A base came and its tail not yet: showing it would be showing less than there is. */
  #onlyBase = false;
  /** The first event that is held in full; what is before can be paged in. */
  #firstSeq = 1;
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- what is shown of it is `#sending`
  readonly #inFlight = new Map<InputId, Promise<void>>();

  constructor(sessionId: SessionId, needs: SessionNeeds) {
    this.sessionId = sessionId;
    this.#needs = needs;
    this.#draft = new DraftState(needs.storage, needs.machineId, sessionId);
    this.attachments = new AttachmentsState(needs.storage, needs.machineId, sessionId, needs.preparePicture);
    this.#unsentStore = new UnsentStore(needs.storage, needs.machineId, sessionId);
    this.#unsent = this.#unsentStore.read();
    this.#repaint = new Repaint(needs.frames, needs.clock, () => this.#show());
  }

  // What there is to see

  get conversation(): Conversation | null {
    return this.#conversation;
  }

  /** The row of the lists; undefined where it is not on the loaded pages. */
  get summary(): SessionSummary | undefined {
    return this.#needs.summaryOf(this.sessionId);
  }

  get title(): string {
    return this.#conversation === null ? (this.summary?.title ?? '') : titleOf(this.#conversation);
  }

  get driver(): DriverState {
    return this.summary?.driver ?? 'idle';
  }

  get phase(): SessionPhase {
    if (this.#refusal?.code === 'not_found') return 'missing';
    const { type } = this.#needs.connection();
    if (this.#conversation === null)
      return type === 'open' || type === 'connecting' || type === 'authenticating' ? 'loading' : 'offline';
    if (type !== 'open') return 'offline';
    return this.#caughtUp ? 'live' : 'catching-up';
  }

  /** Why the session cannot be read or written, a sentence; null where all is well. */
  get problem(): string | null {
    return this.#refusal?.message ?? this.summary?.problem ?? this.#readOnly;
  }

  get hasEarlier(): boolean {
    return this.#conversation !== null && !isWhole(this.#conversation);
  }

  get loadingEarlier(): boolean {
    return this.#loadingEarlier;
  }

  get draft(): string {
    return this.#draft.text;
  }

  set draft(text: string) {
    this.#draft.text = text;
  }

  /** Inputs that stand here as "not sent". */
  get unsent(): readonly UnsentInput[] {
    return this.#unsent;
  }

  /** Inputs under way to the daemon: for milliseconds, or for up to a minute while there is no connection. */
  get sending(): readonly UnsentInput[] {
    return this.#sending;
  }

  /** Of `sending`: will be sent when the daemon is back. */
  get held(): readonly UnsentInput[] {
    return this.#sending.filter((one) => this.#held.includes(one.inputId));
  }

  /** What the last command came to, where it failed. */
  get lastError(): SessionError | null {
    return this.#lastError;
  }

  clearError(): void {
    this.#lastError = null;
  }

  // Following

  /** Asks again where the daemon refused. */
  retry(): void {
    this.#readOnly = null;
    if (this.#refusal === null) return;
    this.#refusal = null;
    this.follow();
  }

  /** Idempotent. Goes on from where it was closed; what the daemon refused is not asked for again (see `retry`). */
  follow(): void {
    if (this.#subscription !== null || this.#refusal !== null) return;
    // An address that somebody typed: no machine has a session of that name, so none is asked.
    if (!z.safeParse(sessionIdShape, this.sessionId).success) {
      this.#refusal = { code: 'not_found', message: 'There is no such session.' };
      return;
    }
    const start = this.#folded === null ? { tailBytes } : { after: this.#folded.seq };
    this.#subscription = this.#needs.client.subscribe(this.sessionId, start, {
      based: (base) => this.#base(base),
      batch: (events) => {
        this.#waiting.push(...events);
        if (!this.#onlyBase) this.#repaint.request();
      },
      caughtUp: () => {
        this.#onlyBase = false;
        this.#repaint.cancel();
        this.#show();
        this.#caughtUp = true;
      },
      lost: () => {
        this.#caughtUp = false;
        for (const input of this.#sending) this.#hold(input);
      },
      failed: (error) => {
        this.#subscription = null;
        this.#refusal = { code: error.code, message: error.message };
      },
    });
  }

  /** Stops following; what is held stays. */
  close(): void {
    this.#subscription?.close();
    this.#subscription = null;
    this.#caughtUp = false;
    this.#repaint.run();
  }

  async loadEarlier(): Promise<void> {
    if (!this.hasEarlier || this.#loadingEarlier) return;
    this.#loadingEarlier = true;
    const before = this.#firstSeq;
    try {
      const page = await this.#needs.client.call('session.page', { sessionId: this.sessionId, before });
      // A new base came meanwhile: this page ends where nothing begins any more.
      if (before !== this.#firstSeq || this.#folded === null) return;
      if (page.base.seq + 1 >= before) throw new RequestError('internal', 'The daemon has no earlier history to show.');
      this.#folded = prepend(page.events.reduce(reduce, page.base), this.#folded);
      this.#firstSeq = page.base.seq + 1;
      this.#show();
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#loadingEarlier = false;
    }
  }

  #base(base: Conversation): void {
    this.#folded = base;
    this.#waiting = [];
    this.#onlyBase = true;
    this.#firstSeq = base.seq + 1;
  }

  #show(): void {
    if (this.#folded === null && this.#waiting.length === 0) return;
    this.#folded = this.#waiting.reduce(reduce, this.#folded ?? emptyConversation);
    this.#waiting = [];
    if (this.#onlyBase) return;
    this.#conversation = this.#folded;
    this.#forgetAcknowledged(this.#folded);
  }

  // Submitting

  /**
   * The text with what is attached. Resolves when the daemon has it, or when it stands in `unsent`, or when it was refused and stands in the
   * draft (see `lastError`).
   */
  submit(text: string, target: InputTarget): Promise<void> {
    const attached = this.attachments.parts;
    if (attached.length === 0) return this.#submit({ text, target });
    const said = text.trim() === '' ? [] : [{ type: 'text' as const, text }];
    return this.#submit({ text, parts: [...said, ...attached], target });
  }

  /** The same parts again, as an input of its own; `text` stands for them where they cannot be sent. */
  submitParts(parts: readonly InputPart[], text: string, target: InputTarget): Promise<void> {
    return this.#submit({ text, parts, target });
  }

  #submit(input: Pick<UnsentInput, 'text' | 'parts' | 'target'>): Promise<void> {
    const same = this.#sending.find(
      (one) => one.text === input.text && one.target === input.target && sameParts(one, input),
    );
    const underWay = same && this.#inFlight.get(same.inputId);
    // Pressed twice.
    if (underWay !== undefined) return underWay;
    const { clock, ids } = this.#needs;
    return this.#send({ ...input, inputId: ids.next() as InputId, at: clock.now() });
  }

  sendUnsent(inputId: InputId): Promise<void> {
    const input = this.#unsent.find((one) => one.inputId === inputId);
    if (input === undefined) return Promise.resolve();
    const { clock, ids } = this.#needs;
    if (!isStale(inputId, clock.now())) return this.#send(input);
    this.#unsentStore.remove([inputId]);
    return this.#send({ ...input, inputId: ids.next() as InputId });
  }

  discardUnsent(inputId: InputId): void {
    this.#unsentStore.remove([inputId]);
    this.#readUnsent();
  }

  #send(input: UnsentInput): Promise<void> {
    const { inputId, text, target } = input;
    const known = this.#inFlight.get(inputId);
    if (known !== undefined) return known;
    // Kept first: from here on nothing can lose it.
    this.#unsentStore.put(input);
    this.#sending = [...this.#sending, input];
    const parts = input.parts === undefined ? [{ type: 'text' as const, text }] : [...input.parts];
    const sent = this.#needs.client
      .call('session.submit', { commandId: inputId, sessionId: this.sessionId, target, parts })
      .then(
        () => this.#acknowledged(input),
        (error: unknown) => this.#notSent(input, error),
      );
    this.#inFlight.set(inputId, sent);
    this.#readUnsent();
    if (this.#needs.connection().type !== 'open') this.#hold(input);
    return sent;
  }

  /** It is kept, and goes by itself within the minute: the field is free for the next. */
  #hold(input: UnsentInput): void {
    if (this.#held.includes(input.inputId)) return;
    this.#held = [...this.#held, input.inputId];
    this.#clearDraft(input);
  }

  #acknowledged(input: UnsentInput): void {
    this.#settle(input, true);
    this.#clearDraft(input);
  }

  #notSent(input: UnsentInput, error: unknown): void {
    const refused = error instanceof RequestError && error.code !== 'unavailable';
    // It stands in one place: refused, where it was written, if it still is there; else as "not sent".
    const back = refused && this.#isDraft(input);
    this.#settle(input, back);
    if (!back) this.#clearDraft(input);
    this.#failed(error);
  }

  /** It stands in the composer still: nothing else was written meanwhile. */
  #isDraft(input: UnsentInput): boolean {
    return this.draft.trim() === input.text.trim();
  }

  #clearDraft(input: UnsentInput): void {
    if (this.#isDraft(input)) this.draft = '';
    this.attachments.drop(input.parts ?? []);
  }

  #settle(input: UnsentInput, done: boolean): void {
    this.#inFlight.delete(input.inputId);
    this.#sending = this.#sending.filter((one) => one.inputId !== input.inputId);
    this.#held = this.#held.filter((one) => one !== input.inputId);
    if (done) this.#unsentStore.remove([input.inputId]);
    this.#readUnsent();
  }

  #readUnsent(): void {
    this.#unsent = this.#unsentStore.read().filter((one) => !this.#inFlight.has(one.inputId));
  }

  /** An input whose acknowledgement was lost on the way is known by its event. */
  #forgetAcknowledged(conversation: Conversation): void {
    if (this.#unsent.length === 0) return;
    const known = this.#unsent.filter((one) => knows(conversation, one.inputId));
    if (known.length === 0) return;
    this.#unsentStore.remove(known.map((one) => one.inputId));
    this.#readUnsent();
  }

  // Commands

  withdraw(inputId: InputId): Promise<void> {
    return this.#command('session.withdraw-input', { inputId });
  }

  editInput(inputId: InputId, parts: readonly InputPart[]): Promise<void> {
    return this.#command('session.edit-input', { inputId, parts: [...parts] });
  }

  retarget(inputId: InputId, target: InputTarget): Promise<void> {
    return this.#command('session.move-input', { inputId, target });
  }

  /** Puts it before another waiting input; null: last. */
  reorder(inputId: InputId, before: InputId | null): Promise<void> {
    return this.#command('session.move-input', { inputId, before });
  }

  pause(): Promise<void> {
    return this.#command('session.pause', {});
  }

  resume(): Promise<void> {
    return this.#command('session.resume', {});
  }

  abort(): Promise<void> {
    return this.#command('session.abort', {});
  }

  compact(): Promise<void> {
    return this.#command('session.compact', {});
  }

  setMode(mode: Mode): Promise<void> {
    return this.#command('session.configure', { mode });
  }

  /** With `effort`, both at once: where the one that holds does not fit the new model. */
  setModel(model: string, effort?: Effort | null): Promise<void> {
    return this.#command('session.configure', { model, ...(effort === undefined ? {} : { effort }) });
  }

  setEffort(effort: Effort | null): Promise<void> {
    return this.#command('session.configure', { effort });
  }

  rename(title: string): Promise<void> {
    return this.#command('session.rename', { title });
  }

  answer(
    approvalId: ApprovalId,
    decision: 'allow' | 'deny',
    scope: ApprovalScope,
    more: { note?: string; arguments?: JsonObject } = {},
  ): Promise<void> {
    return this.#command('approval.answer', { approvalId, decision, scope, ...more });
  }

  /** The answer to a question: the place of an option, words, or both. */
  reply(questionId: QuestionId, said: { option?: number; text?: string }): Promise<void> {
    return this.#command('question.answer', { questionId, ...said });
  }

  /** Ends a background job with all it started. */
  stopJob(jobId: JobId): Promise<void> {
    return this.#command('job.stop', { jobId });
  }

  /** The newest of what a background job printed. Rejects where it cannot be had just now. */
  async readJob(jobId: JobId): Promise<string> {
    return (await this.#needs.client.call('job.read', { sessionId: this.sessionId, jobId })).text;
  }

  /** Never rejects: what went wrong stands in `lastError`. */
  async #command<Name extends CommandName>(name: Name, fields: Fields<Name>): Promise<void> {
    this.#lastError = null;
    const params = { commandId: this.#needs.ids.next() as CommandId, sessionId: this.sessionId, ...fields };
    try {
      await (this.#needs.client.call(name, params as unknown as Params<Name>) as Promise<Result<Name>>);
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (!(error instanceof RequestError)) throw error;
    this.#lastError = { code: error.code, message: error.message };
    if (error.code === 'read_only') this.#readOnly = error.message;
  }
}

function sameParts(one: Pick<UnsentInput, 'parts'>, other: Pick<UnsentInput, 'parts'>): boolean {
  return JSON.stringify(one.parts ?? null) === JSON.stringify(other.parts ?? null);
}

function knows(conversation: Conversation, inputId: InputId): boolean {
  const { active, commands, inbox, turns } = conversation;
  if (commands.some((one) => one.id === inputId) || inbox.some((one) => one.inputId === inputId)) return true;
  const steps = [...turns, ...(active === null ? [] : [active])].flatMap((turn) => [
    ...turn.steps,
    ...(turn.step === null ? [] : [turn.step]),
  ]);
  return steps.some((step) => step.inputs.some((input) => input.inputId === inputId));
}
