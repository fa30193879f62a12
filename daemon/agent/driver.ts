/**
 * The loop that takes a session through its turns; one a session. It decides nothing by itself: each round it asks `decideNext` in the session's
 * queue and carries the answer out. What ends it early (abort, shutdown, a disk that refuses) leaves a conversation that closing.ts can close
 * or that is at rest.
 */
import { atRest } from '#protocol/conversation/open.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark, Draft } from '#protocol/event.ts';
import type { StepId, TurnId } from '#protocol/values/ids.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import type { Usage } from '#protocol/values/usage.ts';
import { messageOf, systemCode } from '../base/errors.ts';
import { nearestEffort } from '../llm/catalogue/efforts.ts';
import type { ModelRequest } from '../llm/item.ts';
import type { ResolveModel } from '../llm/resolved-model.ts';
import { closeOpenWork } from '../session/closing.ts';
import type { Session } from '../session/session.ts';
import { runCalls, type CallPorts } from './calls.ts';
import { runCheck } from './check.ts';
import { decideNext, type Next, type NextOptions, type TurnCap } from './decide.ts';
import { next, type DriverSignal, type DriverState } from './driver-state.ts';
import { runStep } from './step.ts';
import type { Takes } from './context/request.ts';
import { summarise } from './context/summarise.ts';

export interface DriverPorts {
  session: Session;
  defaultModel(): string;
  /** The model of a step, or why it cannot be had. */
  readonly resolveModel: ResolveModel;
  /** Of one turn. */
  readonly maxSteps: number;
  readonly maxTokens: number | null;
  readonly cap: () => TurnCap;
  /** Whether a sub-agent of an open call works just now, or has ended without that call knowing: then the turn is not at rest. */
  childMoves(): boolean;
  /** The whole request for the open step; the conversation's history is whole. */
  buildRequest(conversation: Conversation, model: string, takes: Takes): Promise<ModelRequest>;
  /** The model would not take the pictures of the last request: the next holds notes instead. */
  refusePictures(model: string): void;
  callPorts: CallPorts;
  /** Told on each change of state. */
  changed(state: DriverState): void;
  /** The share of the model's window at which the context is compacted by itself; null: never. */
  compactAt(): number | null;
  /** The command by which a turn that changed files is checked; null: it is not. */
  check(): string | null;
  /** A fault of ours, for the daemon's own log. */
  fault(error: unknown): void;
}

type Stop = 'abort' | 'shutdown';
/** Why a turn is closed with what is open in it; a failure becomes the turn's own. */
type Closing = 'abort' | 'shutdown' | 'crash' | Failure;

export class Driver {
  readonly #ports: DriverPorts;
  #state: DriverState = 'idle';
  #woken = false;
  /** Something else than input is to be looked at. */
  #nudged = false;
  #stop = new AbortController();
  #loop: Promise<void> | null = null;
  #abortMark: CommandMark | undefined;
  #aborting: Promise<void> | null = null;
  /** A closing that could not be written. */
  #owed: Closing | null = null;
  /** Usage of the reply that was stopped: null where it never came, undefined where none was asked for. */
  #asked: Usage | null | undefined;
  #closed = false;

  constructor(ports: DriverPorts) {
    this.#ports = ports;
    if (ports.session.conversation.active !== null) this.#signal('paused');
  }

  get state(): DriverState {
    return this.#state;
  }

  /** Input is waiting, or an answer came: sees what there is to do. Harmless at any time. */
  wake(): void {
    if (this.#closed || this.#ports.session.conversation.active?.paused === true) return;
    this.#woken = true;
    if (this.#loop !== null || this.#state === 'aborting') return;
    if (this.#state === 'idle' || this.#state === 'paused') this.#signal('wake');
    this.#start();
  }

  /** There is something to do that is no input: what waits behind a stopped turn waits on. */
  nudge(): void {
    if (this.#closed || this.#ports.session.conversation.active?.paused === true) return;
    this.#nudged = true;
    if (this.#loop !== null || this.#state === 'aborting') return;
    if (this.#state === 'idle' || this.#state === 'paused') this.#signal('wake');
    this.#start();
  }

  pause(): void {
    this.#signal('pause');
  }

  /** Goes on, also where the pause came to be written only after the person had taken it back. */
  async resume(): Promise<void> {
    if (this.#state === 'pausing') return this.#signal('resume');
    await this.#takePauseBack();
    this.wake();
  }

  /**
   * Resolves when the turn is closed; it then carries the command of whoever asked first. Nothing happens where no turn is open. Rejects where
   * the disk refuses: then nothing moves any more, and the turn stays open until it can be closed.
   */
  abort(command: CommandMark | undefined): Promise<void> {
    if (this.#ports.session.conversation.active === null && this.#loop === null) return Promise.resolve();
    this.#aborting ??= this.#abort(command).finally(() => {
      this.#aborting = null;
      if (this.#woken) this.wake();
      else if (this.#nudged) this.nudge();
    });
    return this.#aborting;
  }

  /** Shutdown: stops what moves and closes it as interrupted; what is at rest stays open. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stop.abort('shutdown' satisfies Stop);
    await this.#loop;
  }

  async #abort(command: CommandMark | undefined): Promise<void> {
    this.#abortMark = command;
    // What was woken for until now waits on behind the stopped turn; what comes from here on starts a new one.
    this.#woken = false;
    this.#signal('abort');
    this.#stop.abort('abort' satisfies Stop);
    try {
      await this.#loop;
      if (this.#open) await this.#close('abort');
    } finally {
      this.#stop = new AbortController();
      this.#abortMark = undefined;
      this.#signal(this.#open ? 'paused' : 'aborted');
    }
  }

  get #open(): boolean {
    return this.#ports.session.conversation.active !== null;
  }

  #start(): void {
    this.#loop = this.#run().finally(() => {
      this.#loop = null;
      // Woken between the last decision and now: nobody else would see it.
      if (this.#closed || this.#state === 'aborting') return;
      if (this.#woken) this.wake();
      else if (this.#nudged) this.nudge();
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.#ports.session.hydrate();
      const owed = this.#owed;
      if (typeof owed === 'object' && owed !== null) await this.#close(owed);
      else if (!atRest(this.#ports.session.conversation)) await this.#close(owed ?? 'crash');
      for (;;) {
        const now = await this.#next(signal);
        if (now.do === 'rest') {
          // A person took the pause back while it was being written. Looked at and told in one go: nobody resumes in between.
          if (now.paused && this.#state === 'running') {
            await this.#takePauseBack();
            continue;
          }
          if (now.paused) this.#signal('paused');
          // A wake during the decision asks for another look; a turn that rests paused is left only by resume, which clears the pause first.
          if ((this.#woken || this.#nudged) && !now.paused) continue;
          this.#woken = false;
          if (!now.paused) this.#signal('rest');
          return;
        }
        signal.throwIfAborted();
        if (now.do === 'step') await this.#step(now.turnId, now.stepId, signal);
        else if (now.do === 'compact') await this.#compact(signal);
        else if (now.do === 'check') await this.#check(now.turnId, now.command, signal);
        else await this.#calls(now.stepId, signal);
      }
    } catch (error) {
      await this.#stopped(error, signal);
    }
  }

  async #next(signal: AbortSignal): Promise<Next> {
    const efforts = await this.#effortsKnown();
    const woken = this.#woken;
    this.#woken = false;
    this.#nudged = false;
    const { result } = await this.#ports.session.transact((conversation) => {
      // What waits is not claimed any more by a turn that is being stopped (C07).
      signal.throwIfAborted();
      const { events, next: now } = decideNext(conversation, {
        defaultModel: this.#ports.defaultModel(),
        efforts,
        pausing: this.#state === 'pausing',
        woken,
        maxSteps: this.#ports.maxSteps,
        maxTokens: this.#ports.maxTokens,
        cap: this.#ports.cap(),
        compactAt: this.#ports.compactAt(),
        check: this.#ports.check(),
      });
      return { events, result: now };
    });
    // A compaction comes before what was woken for, and does not stand for it.
    if (result.do === 'compact') this.#woken ||= woken;
    return result;
  }

  /** Looked up only where a step is opened with an effort: the decision itself waits for nothing. */
  async #effortsKnown(): Promise<NextOptions['efforts']> {
    const { active, settings } = this.#ports.session.conversation;
    if (settings.effort === null || (active !== null && active.step !== null)) return null;
    const model = settings.model ?? this.#ports.defaultModel();
    const resolved = await this.#ports.resolveModel(model);
    return 'failure' in resolved ? null : { model, takes: resolved.efforts };
  }

  async #takePauseBack(): Promise<void> {
    if (this.#ports.session.conversation.active?.paused !== true) return;
    await this.#ports.session.transact(({ active }) => ({
      events: active?.paused === true ? [{ type: 'turn.resumed', turnId: active.turnId }] : [],
      result: undefined,
    }));
  }

  async #step(turnId: TurnId, stepId: StepId, signal: AbortSignal): Promise<void> {
    const { session } = this.#ports;
    this.#asked = undefined;
    const name = session.conversation.active?.step?.model ?? this.#ports.defaultModel();
    const resolved = await this.#ports.resolveModel(name);
    if ('failure' in resolved) return this.#fail(turnId, stepId, resolved.failure, undefined);
    const build = async () => {
      const takes = { pictures: resolved.pictures ?? null, documents: resolved.documents === true };
      const asked = await this.#ports.buildRequest(session.conversation, resolved.model, takes);
      // What the model takes may have changed since the step was opened, by the settings or by a crash in between.
      return { ...asked, effort: nearestEffort(asked.effort, resolved.efforts) };
    };
    const request = await build();
    const ports = {
      conversation: () => session.conversation,
      append: (events: Draft[]) => session.append(events),
      storeBlob: (bytes: Uint8Array) => session.storeBlob(bytes),
      tools: this.#ports.callPorts.tools,
      client: resolved.client,
      contextWindow: resolved.contextWindow,
      price: resolved.price,
    };
    this.#asked = null;
    const asking = runStep(ports, stepId, request, signal);
    // While the model is asked there is time.
    for (const tool of this.#ports.callPorts.tools) tool.ready?.();
    let end = await asking;
    if (end.end === 'failed' && this.#saidNothing && refusesPictures(end.failure, request) && !signal.aborted) {
      this.#ports.refusePictures(resolved.model);
      const message = `${name} did not take the pictures of this conversation, so it goes on without them. ${end.failure.message}`;
      await session.append([{ type: 'warning.raised', code: 'other', message }]);
      end = await runStep(ports, stepId, await build(), signal);
    }
    const overflowed = end.end === 'failed' && end.failure.code === 'context_full';
    if (overflowed && this.#saidNothing && this.#ports.compactAt() !== null && !signal.aborted) {
      await session.append([{ type: 'compaction.started', trigger: 'overflow' }]);
      // Once: what is too long even so fails as it would have.
      if (await this.#compact(signal)) end = await runStep(ports, stepId, await build(), signal);
    }
    if (end.end === 'aborted') this.#asked = end.asked ? end.usage : undefined;
    if (end.end === 'failed') return this.#fail(turnId, stepId, end.failure, end.usage);
    signal.throwIfAborted();
    if (end.end === 'aborted') {
      const failure: Failure = {
        code: 'fault',
        message: 'The reply ended early for no known reason. What came is kept; send again.',
      };
      return this.#fail(turnId, stepId, failure, end.usage);
    }
    return this.#calls(stepId, signal);
  }

  get #saidNothing(): boolean {
    return this.#ports.session.conversation.active?.step?.parts.length === 0;
  }

  /** Ends the compaction that was started; false where it failed, which leaves the context as it was. */
  async #compact(signal: AbortSignal): Promise<boolean> {
    const { session, resolveModel, defaultModel } = this.#ports;
    const { conversation } = session;
    const model = conversation.active?.step?.model ?? conversation.settings.model ?? defaultModel();
    const end = await summarise(conversation, model, resolveModel, signal);
    await session.append([end]);
    return end.outcome === 'completed';
  }

  /** TL27. A failure is the agent's to put right, once; the second is the person's. */
  async #check(turnId: TurnId, command: string, signal: AbortSignal): Promise<void> {
    const { session, callPorts } = this.#ports;
    const { outcome, text } = await runCheck(callPorts.environment, command, signal);
    signal.throwIfAborted();
    const again = (session.conversation.active?.check?.runs ?? 0) > 1;
    const message = `The check of this project (${command}) still fails after the agent was told and worked on it.`;
    await session.append([
      { type: 'check.ended', turnId, outcome, text },
      ...(outcome === 'failed' && again ? [{ type: 'warning.raised', code: 'other', message } as const] : []),
    ]);
  }

  async #calls(stepId: StepId, signal: AbortSignal): Promise<void> {
    await runCalls(this.#ports.callPorts, stepId, signal);
    await this.#ports.session.append([{ type: 'step.ended', stepId, outcome: 'completed' }]);
  }

  /** A failed provider ends the turn, with the reason; history stays replayable and the inbox as it was. */
  async #fail(turnId: TurnId, stepId: StepId, failure: Failure, usage: Usage | null | undefined): Promise<void> {
    await this.#ports.session.append([
      { type: 'step.ended', stepId, outcome: 'failed', failure, ...(usage === undefined ? {} : { usage }) },
      { type: 'turn.ended', turnId, outcome: 'failed', failure },
    ]);
    // Input that came before the failure waits for a person, who sees it; what comes after wakes anew.
    this.#woken = false;
  }

  async #stopped(error: unknown, signal: AbortSignal): Promise<void> {
    const stop = signal.aborted ? (signal.reason as Stop) : null;
    try {
      if (stop === 'abort') await this.#close('abort');
      else if (stop === 'shutdown') {
        if (!atRest(this.#ports.session.conversation) || this.#ports.childMoves()) await this.#close('shutdown');
      } else {
        this.#ports.fault(error);
        await this.#close(failureOf(error));
      }
    } catch (closing) {
      // The disk refuses even this. Nothing goes on by itself then: the next wake, or the next start, closes what is open.
      this.#ports.fault(closing);
    }
    if (stop !== 'abort') {
      this.#woken = false;
      this.#signal(this.#open ? 'paused' : 'rest');
    }
  }

  /** Closes the turn with what is open in it. Where that cannot be written it is owed, and made good before anything else is done. */
  async #close(how: Closing): Promise<void> {
    this.#owed = how;
    await this.#ports.session.transact((conversation) => ({
      events: this.#closing(conversation, how),
      result: undefined,
    }));
    this.#owed = null;
  }

  #closing(conversation: Conversation, how: Closing): Draft[] {
    const failure = typeof how === 'object' ? how : null;
    // What went wrong before a turn was begun has no turn to stand in.
    if (failure !== null && conversation.active === null)
      return [
        {
          type: 'warning.raised',
          code: failure.code === 'storage_failed' ? 'storage' : 'other',
          message: failure.message,
        },
      ];
    const mark = how === 'abort' ? this.#abortMark : undefined;
    return closeOpenWork(conversation, typeof how === 'object' ? 'fault' : how, mark).map((event) => {
      if (event.type === 'turn.ended' && failure !== null) return { ...event, outcome: 'failed', failure };
      if (event.type !== 'step.ended' || event.usage === undefined) return event;
      const { usage: _, ...ended } = event;
      return this.#asked === undefined ? ended : { ...ended, usage: this.#asked };
    });
  }

  #signal(signal: DriverSignal): void {
    const state = next(this.#state, signal);
    if (state === null || state === this.#state) return;
    this.#state = state;
    this.#ports.changed(state);
  }
}

/**
 * US5: a refusal that names a picture, of a request that holds some. Vendors have no code for it in common, so its words decide; at worst the
 * same request is made once more, without pictures, and fails again.
 */
function refusesPictures({ code, message, detail }: Failure, { items }: ModelRequest): boolean {
  const said = detail ?? message;
  const names = /\b(images?|pictures?|vision|multimodal|media.?type)/i.test(said);
  // Where no endpoint takes pictures, one that sells many models answers that there is none.
  const refuses = code === 'provider_refused' || (code === 'model_unknown' && /support/i.test(said));
  if (!names || !refuses) return false;
  return items.some((item) => item.type !== 'reply' && item.parts.some((part) => part.type === 'image'));
}

/** The log could not be written or read, or a fault of ours, in words a person can act on. */
function failureOf(error: unknown): Failure {
  // A damaged history is not cured by another message: the words say so, and what was written waits in the inbox.
  if (error instanceof RequestError && error.code === 'read_only')
    return { code: 'storage_failed', message: error.message };
  if (error instanceof RequestError) {
    const message = `${error.message} Everything that was shown is kept; send a message to go on.`;
    return { code: 'storage_failed', message };
  }
  if (systemCode(error) !== undefined) {
    const message = `A file of the session could not be used (${messageOf(error)}). Everything that was shown is kept; send a message to go on.`;
    return { code: 'storage_failed', message };
  }
  const message = `Alcove ran into a fault of its own (${messageOf(error)}). Everything until here is kept; send a message to go on.`;
  return { code: 'fault', message };
}
