/**
 * The loop that takes a session through its turns; one a session. It decides nothing by itself: each round it asks `decideNext` in the session's
 * queue and carries the answer out. What ends it early (abort, shutdown, a disk that refuses) leaves a conversation that closing.ts can close
 * or that is at rest.
 */
import { atRest } from '#protocol/conversation/open.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { CommandMark, Draft } from '#protocol/event.ts';
import type { StepId, TurnId } from '#protocol/values/ids.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import type { Usage } from '#protocol/values/usage.ts';
import { InvariantError, messageOf } from '../base/errors.ts';
import { maxStepsPerTurn } from '../base/limits.ts';
import type { ModelRequest } from '../llm/item.ts';
import type { ModelClient } from '../llm/model-stream.ts';
import { closeOpenWork } from '../session/closing.ts';
import type { Session } from '../session/session.ts';
import { runCalls, type CallPorts } from './calls.ts';
import { decideNext, type Next } from './decide.ts';
import { next, type DriverSignal, type DriverState } from './driver-state.ts';
import { runStep } from './step.ts';

export interface DriverPorts {
  session: Session;
  defaultModel(): string;
  /** The model of a step, or why it cannot be had. */
  resolveModel(
    name: string,
  ): Promise<{ client: ModelClient; model: string; contextWindow: number | null } | { failure: Failure }>;
  /** The whole request for the open step; the conversation's history is whole. */
  buildRequest(conversation: Conversation, model: string): Promise<ModelRequest>;
  callPorts: CallPorts;
  /** Told on each change of state. */
  changed(state: DriverState): void;
  /** A fault of ours, for the daemon's own log. */
  fault(error: unknown): void;
}

type Stop = 'abort' | 'shutdown';

export class Driver {
  readonly #ports: DriverPorts;
  #state: DriverState = 'idle';
  #woken = false;
  #stop = new AbortController();
  #loop: Promise<void> | null = null;
  #abortMark: CommandMark | undefined;
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

  pause(): void {
    this.#signal('pause');
  }

  resume(): void {
    if (this.#state === 'pausing') this.#signal('resume');
    else this.wake();
  }

  /** Resolves when the turn is closed; it then carries `command`. Nothing happens where no turn is open. */
  async abort(command: CommandMark | undefined): Promise<void> {
    if (this.#ports.session.conversation.active === null && this.#loop === null) return;
    this.#abortMark ??= command;
    // What was woken for until now waits on behind the stopped turn; what comes from here on starts a new one.
    this.#woken = false;
    this.#signal('abort');
    this.#stop.abort('abort' satisfies Stop);
    if (this.#loop !== null) await this.#loop;
    else await this.#closeTurn('abort');
    this.#signal('aborted');
    this.#stop = new AbortController();
    this.#abortMark = undefined;
    if (this.#woken) this.wake();
  }

  /** Shutdown: stops what moves and closes it as interrupted; what is at rest stays open. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stop.abort('shutdown' satisfies Stop);
    await this.#loop;
  }

  #start(): void {
    this.#loop = this.#run().finally(() => {
      this.#loop = null;
      // Woken between the last decision and now: nobody else would see it.
      if (this.#woken && !this.#closed && this.#state !== 'aborting') this.wake();
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.#ports.session.hydrate();
      if (!atRest(this.#ports.session.conversation)) await this.#closeTurn('crash');
      for (;;) {
        const now = await this.#next();
        if (now.do === 'rest') {
          if (now.paused) this.#signal('paused');
          // A wake during the decision asks for another look; a turn that rests paused is left only by resume, which clears the pause first.
          if (this.#woken && !now.paused) continue;
          this.#woken = false;
          if (!now.paused) this.#signal('rest');
          return;
        }
        signal.throwIfAborted();
        if (now.do === 'step') await this.#step(now.turnId, now.stepId, signal);
        else await this.#calls(now.stepId, signal);
      }
    } catch (error) {
      await this.#stopped(error, signal);
    }
  }

  async #next(): Promise<Next> {
    const options = {
      defaultModel: this.#ports.defaultModel(),
      pausing: this.#state === 'pausing',
      woken: this.#woken,
      maxSteps: maxStepsPerTurn,
    };
    this.#woken = false;
    const { result } = await this.#ports.session.transact((conversation) => {
      const { events, next: now } = decideNext(conversation, options);
      return { events, result: now };
    });
    return result;
  }

  async #step(turnId: TurnId, stepId: StepId, signal: AbortSignal): Promise<void> {
    const { session } = this.#ports;
    const name = session.conversation.active?.step?.model ?? this.#ports.defaultModel();
    const resolved = await this.#ports.resolveModel(name);
    if ('failure' in resolved) return this.#fail(turnId, stepId, resolved.failure, null);
    const request = await this.#ports.buildRequest(session.conversation, resolved.model);
    const ports = {
      conversation: () => session.conversation,
      append: (events: Draft[]) => session.append(events),
      storeBlob: (bytes: Uint8Array) => session.storeBlob(bytes),
      tools: this.#ports.callPorts.tools,
      client: resolved.client,
      contextWindow: resolved.contextWindow,
    };
    const end = await runStep(ports, stepId, request, signal);
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

  async #calls(stepId: StepId, signal: AbortSignal): Promise<void> {
    await runCalls(this.#ports.callPorts, stepId, signal);
    await this.#ports.session.append([{ type: 'step.ended', stepId, outcome: 'completed' }]);
  }

  /** A failed provider ends the turn, with the reason; history stays replayable and the inbox as it was. */
  async #fail(turnId: TurnId, stepId: StepId, failure: Failure, usage: Usage | null): Promise<void> {
    await this.#ports.session.append([
      { type: 'step.ended', stepId, outcome: 'failed', failure, usage },
      { type: 'turn.ended', turnId, outcome: 'failed', failure },
    ]);
    // Input that came before the failure waits for a person, who sees it; what comes after wakes anew.
    this.#woken = false;
  }

  async #stopped(error: unknown, signal: AbortSignal): Promise<void> {
    const stop = signal.aborted ? (signal.reason as Stop) : null;
    try {
      if (stop === 'abort') await this.#closeTurn('abort');
      else if (stop === 'shutdown') {
        if (!atRest(this.#ports.session.conversation)) await this.#closeTurn('shutdown');
      } else {
        this.#ports.fault(error);
        await this.#failTurn(error);
      }
    } catch (closing) {
      // The disk refuses even this. The next wake, or the next start, closes what is open.
      this.#ports.fault(closing);
    }
    if (stop !== 'abort') this.#signal(this.#ports.session.conversation.active === null ? 'rest' : 'paused');
  }

  async #closeTurn(cause: 'abort' | 'shutdown' | 'crash'): Promise<void> {
    const mark = cause === 'abort' ? this.#abortMark : undefined;
    await this.#ports.session.transact((conversation) => ({
      events: closeOpenWork(conversation, cause, mark),
      result: undefined,
    }));
  }

  /** The log could not be written, or a fault of ours: the turn is closed as failed, in words a person can act on. */
  async #failTurn(error: unknown): Promise<void> {
    const ours = error instanceof InvariantError || !(error instanceof Error && 'code' in error);
    const failure: Failure = ours
      ? {
          code: 'fault',
          message: `Alcove ran into a fault of its own (${messageOf(error)}). Everything until here is kept; send a message to go on.`,
        }
      : {
          code: 'storage_failed',
          message: `The session's log could not be written: ${messageOf(error)}. Nothing that was shown is lost; make space, then send a message to go on.`,
        };
    await this.#ports.session.transact((conversation) => ({
      events: closeOpenWork(conversation, 'crash').map((event) =>
        event.type === 'turn.ended' ? { ...event, outcome: 'failed' as const, failure } : event,
      ),
      result: undefined,
    }));
    this.#woken = false;
  }

  #signal(signal: DriverSignal): void {
    const state = next(this.#state, signal);
    if (state === null || state === this.#state) return;
    this.#state = state;
    this.#ports.changed(state);
  }
}
