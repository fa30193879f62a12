/**
 * The face of the runtime: applications (daemon, one-shot run, tests, embedders) submit input, steer the driver, follow the events and read
 * the status through it, and reach into nothing else. A client that goes away changes nothing: the turn goes on and requests keep waiting.
 * `close()` (or `await using`) releases model, log and processes.
 */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark, Draft } from '#protocol/event.ts';
import type { InputTarget } from '#protocol/events/input.ts';
import type { InputPart } from '#protocol/values/content.ts';
import type { ContextReport } from '#protocol/values/context-report.ts';
import type { InputId, SessionId } from '#protocol/values/ids.ts';
import type { Effort, Mode } from '#protocol/values/model.ts';
import type { Clock } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import { maxInlineFieldBytes, maxStepsPerTurn, maxSubAgentSteps, subAgentTokens } from '../base/limits.ts';
import type { ResolveModel } from '../llm/resolved-model.ts';
import type { Session } from '../session/session.ts';
import type { Sandbox } from '../tools/sandbox/sandbox.ts';
import type { ProcessLedger, TemporaryLedger, Tool } from '../tools/tool.ts';
import type { Allowed } from './rules.ts';
import { checkAttachments } from './attachments.ts';
import { promptParts, type PromptFacts, type PromptPart } from './context/prompt.ts';
import { Requests } from './context/request.ts';
import {
  decideAnswer,
  decideCompact,
  decideConfigure,
  decideEditInput,
  decideMoveInput,
  decideSubmit,
  decideWithdrawInput,
  repeated,
  type Answer,
  noCap,
  type Submission,
  type TurnCap,
} from './decide.ts';
import { Driver } from './driver.ts';
import { Jobs } from './jobs/jobs.ts';
import type { DriverState } from './driver-state.ts';
import { withoutLongText } from './long-text.ts';
import { offeredTo } from './offered-tools.ts';
import { decideReply, type Reply } from './questions.ts';
import { childrenOf, stricter, type SubAgent, type SubAgents } from './sub-agents.ts';

export interface AgentOptions {
  session: Session;
  clock: Clock;
  tools: readonly Tool[];
  processes: ProcessLedger & TemporaryLedger & { endAll(): Promise<void> };
  /** What commands run in. */
  sandbox: Sandbox;
  /** Environment for the tools' processes, scrubbed. */
  processEnvironment: Readonly<Record<string, string>>;
  /** Folders no tool may touch. */
  forbidden: readonly string[];
  readonly defaultModel: () => string;
  readonly resolveModel: ResolveModel;
  /** The system prompt of each request; where left out, Alcove's own. */
  readonly prompt?: (facts: PromptFacts) => Promise<PromptPart[]>;
  /** What a turn may use. */
  readonly cap: () => TurnCap;
  readonly rules: () => readonly Allowed[];
  /** Called with the grant when a person answers "always". */
  readonly makeRule: (allowed: Allowed) => Promise<void>;
  /** The share of the model's window at which the context is compacted by itself; null: never. */
  readonly compactAt: () => number | null;
  /** The command by which turns that changed files in this folder are checked; null: none. */
  readonly check: (folder: string) => string | null;
  /** See CallPorts. */
  unattended: ((caution: boolean) => string) | null;
  /** See CallPorts. */
  noAnswer: ((plan: boolean) => string | null) | null;
  /** Null: there are none here. */
  subAgents: SubAgents | null;
  /** Of a sub-agent: what its parent may do at most just now. */
  modeLimit: (() => Mode) | null;
  /** See DriverPorts. */
  readonly childMoves: (conversation: Conversation) => boolean;
  readonly changed: (state: DriverState) => void;
  readonly fault: (error: unknown) => void;
}

export class Agent {
  readonly #options: AgentOptions;
  readonly #driver: Driver;
  readonly #jobs: Jobs;
  readonly #requests: Requests;
  #closed: Promise<void> | null = null;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { session } = options;
    const filesSeen = new Map<string, string>();
    const facts = session.conversation.session;
    // Tools must never work in a folder that nobody named.
    assert(facts !== null, 'an agent of a session that never began');
    const { folder, spawned } = facts;
    const tools = offeredTo(facts, options.tools, options.subAgents !== null);
    this.#jobs = new Jobs({
      conversation: () => session.conversation,
      transact: (decide) => session.transact(decide),
      makeSpills: () => session.spillFile(''),
      spills: session.place.spills,
      now: () => options.clock.now(),
      fault: options.fault,
    });
    const limited = (own: Mode) => (options.modeLimit === null ? own : stricter(own, options.modeLimit()));
    const requests = new Requests({
      sessionId: facts.sessionId,
      folder,
      clock: options.clock,
      tools,
      sandbox: options.sandbox.state,
      prompt: options.prompt ?? promptParts,
      limited,
      readBlob: (blob) => session.readBlob(blob),
    });
    this.#requests = requests;
    this.#driver = new Driver({
      session,
      defaultModel: options.defaultModel,
      resolveModel: options.resolveModel,
      buildRequest: (conversation, model, takes) => requests.build(conversation, model, takes),
      maxSteps: spawned === null ? maxStepsPerTurn : maxSubAgentSteps,
      maxTokens: spawned === null ? null : subAgentTokens,
      // A sub-agent has its own budget, and counts in the turn that it works for.
      cap: () => (spawned === null ? options.cap() : noCap),
      childMoves: () => options.childMoves(session.conversation),
      compactAt: options.compactAt,
      check: () => options.check(folder),
      refusePictures: (model) => requests.refusePictures(model),
      callPorts: {
        conversation: () => session.conversation,
        transact: (decide) => session.transact(decide),
        changed: (seq, signal) => session.changed(seq, signal),
        readBlob: (blob) => session.readBlob(blob),
        tools,
        mode: () => limited(session.conversation.settings.mode),
        subAgents: options.subAgents,
        rules: options.rules,
        unattended: options.unattended,
        noAnswer: options.noAnswer,
        jobs: (callId) => this.#jobs.desk(callId),
        environment: {
          folder,
          forbidden: options.forbidden,
          get sandbox() {
            // Plan mode runs what only looks, and is held to it.
            return { of: options.sandbox, readOnly: limited(session.conversation.settings.mode) === 'plan' };
          },
          processEnvironment: options.processEnvironment,
          storeBlob: (bytes) => session.storeBlob(bytes),
          spills: session.place.spills,
          spillFile: (name) => session.spillFile(name),
          filesSeen: { get: (path) => filesSeen.get(path), set: (path, stamp) => void filesSeen.set(path, stamp) },
          processes: options.processes,
          temporaries: options.processes,
        },
      },
      changed: options.changed,
      fault: options.fault,
    });
    // Input that waits behind a turn that ended normally starts by itself; what waits behind an interrupted one waits for a person.
    const { active, inbox, lastOutcome } = session.conversation;
    const endedWell = lastOutcome === null || lastOutcome === 'completed';
    // A sub-agent is started by whoever begins it, once.
    if (spawned === null && active === null && inbox.length > 0 && endedWell) this.#driver.wake();
  }

  get conversation(): Conversation {
    return this.#options.session.conversation;
  }

  get state(): DriverState {
    return this.#driver.state;
  }

  get session(): Session {
    return this.#options.session;
  }

  /** Resolves with the input's seq once it is durable. A repeat of the command changes nothing. */
  async submit(
    input: { target: InputTarget; parts: InputPart[]; origin: Submission['origin'] },
    command: CommandMark,
  ): Promise<number> {
    const parts = await this.#stored(input.parts);
    let isNew = false as boolean;
    const seq = await this.#command(command, (conversation) => {
      isNew = true;
      return decideSubmit(conversation, { ...input, parts, inputId: command.id }, command);
    });
    // What a page sends again after a crash must not start what waits behind an interrupted turn.
    if (isNew) this.#driver.wake();
    return seq;
  }

  async editInput(inputId: InputId, parts: InputPart[], command: CommandMark): Promise<number> {
    const stored = await this.#stored(parts);
    return this.#command(command, (conversation) => decideEditInput(conversation, inputId, stored, command));
  }

  async moveInput(
    inputId: InputId,
    to: { target?: InputTarget | undefined; before?: InputId | null | undefined },
    command: CommandMark,
  ): Promise<number> {
    const seq = await this.#command(command, (conversation) => decideMoveInput(conversation, inputId, to, command));
    return seq;
  }

  withdrawInput(inputId: InputId, command: CommandMark): Promise<number> {
    return this.#command(command, (conversation) => decideWithdrawInput(conversation, inputId, command));
  }

  changed(seq: number, signal: AbortSignal): Promise<void> {
    return this.#options.session.changed(seq, signal);
  }

  /** A sub-agent begins with what it was told. */
  start(): void {
    this.#driver.wake();
  }

  /** Ends the turn without a command of a person's: whoever started this agent was stopped. */
  async stop(): Promise<void> {
    await this.#driver.abort(undefined);
    await this.endJobs();
  }

  /** Of a sub-agent whose work is done: nobody would know of them any more. */
  endJobs(): Promise<void> {
    return this.#jobs.stopAll('the end of its agent');
  }

  /** A person stops a background job. A repeat of the command changes nothing. */
  async stopJob(jobId: string, by: string, command: CommandMark): Promise<number> {
    const known = repeated(this.conversation, command, this.#options.clock.now());
    if (known !== null) return known;
    await this.#jobs.stop(jobId, by, command);
    return this.conversation.seq;
  }

  /** A background job and the newest of what it printed. Throws `not_found`. */
  showJob(jobId: string): ReturnType<Jobs['show']> {
    return this.#jobs.show(jobId);
  }

  /** As `pause`, without a command. */
  async hold(): Promise<void> {
    this.#driver.pause();
    await this.#below((child) => child.hold());
  }

  /** As `resume`, without a command. */
  async goOn(): Promise<void> {
    await this.#driver.resume();
    await this.#below((child) => child.goOn());
  }

  /** One of its sub-agents goes on after a restart: so does the call that waits for it. */
  childWoke(sessionId: SessionId): void {
    if (childrenOf(this.conversation).some((child) => child.sessionId === sessionId)) this.#answered();
  }

  async #below(act: (child: SubAgent) => Promise<void>): Promise<void> {
    const { subAgents } = this.#options;
    for (const { sessionId } of childrenOf(this.conversation)) {
      const child = await subAgents?.find(sessionId);
      if (child != null) await act(child);
    }
  }

  /** Takes effect at the next complete step boundary, here and in every sub-agent. */
  async pause(command: CommandMark): Promise<number> {
    const seq = await this.#command(command, () => []);
    await this.hold();
    return seq;
  }

  /** Goes on from where the turn rests; or takes up input that waits behind a turn that did not end well. */
  async resume(command: CommandMark): Promise<number> {
    const seq = await this.#command(command, (conversation) =>
      conversation.active?.paused === true
        ? [{ type: 'turn.resumed', command, turnId: conversation.active.turnId }]
        : [],
    );
    await this.goOn();
    return seq;
  }

  /** Resolves when everything that was open has its end. */
  async abort(command: CommandMark): Promise<number> {
    const known = repeated(this.conversation, command, this.#options.clock.now());
    if (known !== null) return known;
    await this.#driver.abort(command);
    return this.conversation.seq;
  }

  async answer(answer: Answer, command: CommandMark): Promise<number> {
    if (answer.arguments !== undefined && Buffer.byteLength(JSON.stringify(answer.arguments)) > maxInlineFieldBytes) {
      throw new RequestError(
        'too_large',
        `Changed arguments may have ${maxInlineFieldBytes} bytes at most (maxInlineFieldBytes). Nothing was answered.`,
      );
    }
    const asked = this.conversation.approvals.find((approval) => approval.approvalId === answer.approvalId);
    const seq = await this.#command(command, (conversation) => decideAnswer(conversation, answer, command));
    if (asked !== undefined && answer.decision === 'allow' && answer.scope === 'always') {
      await this.#options.makeRule({ tool: asked.tool, pattern: asked.rulePattern });
    }
    this.#answered();
    return seq;
  }

  /** Ends the call that asked, too. `stale`: somebody was quicker. */
  async reply(reply: Reply, command: CommandMark): Promise<number> {
    const seq = await this.#command(command, (conversation) => decideReply(conversation, reply, command));
    this.#answered();
    return seq;
  }

  /** After a restart nobody waits in a loop for an answer: the driver goes on from the fold. */
  #answered(): void {
    if (this.#driver.state === 'paused' && this.conversation.active?.paused !== true) this.#driver.wake();
  }

  configure(
    settings: { model?: string | undefined; effort?: Effort | null | undefined; mode?: Mode | undefined },
    command: CommandMark,
  ): Promise<number> {
    return this.#command(command, (conversation) => decideConfigure(conversation, settings, command));
  }

  /** At the next step boundary; at once where nothing moves. Rejects with `conflict` where no model was asked yet. */
  async compact(command: CommandMark): Promise<number> {
    const seq = await this.#command(command, (conversation) => decideCompact(conversation, command));
    this.#driver.nudge();
    return seq;
  }

  /** What the next request would hold, part by part. Costs a read of the log where its history is not whole yet. */
  async contextReport(): Promise<ContextReport> {
    const { session, resolveModel, defaultModel } = this.#options;
    await session.hydrate();
    const { conversation } = session;
    const name = conversation.active?.step?.model ?? conversation.settings.model ?? defaultModel();
    const resolved = await resolveModel(name);
    const known = 'failure' in resolved ? null : resolved;
    const limit = known?.contextWindow ?? conversation.context?.limit ?? null;
    const model = known?.model ?? name.slice(name.indexOf('/') + 1);
    const takes = { pictures: known?.pictures ?? null, documents: known?.documents === true };
    return this.#requests.report(conversation, { name, model, limit }, takes);
  }

  rename(title: string, command: CommandMark): Promise<number> {
    return this.#command(command, () => [{ type: 'session.titled', command, title, by: 'person' }]);
  }

  /** Ends what moves as interrupted, leaves what is at rest, ends the jobs and every process of the tools, and closes the log. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      await this.#driver.close();
      await this.#jobs.close();
      await this.#options.processes.endAll();
      await this.#options.session.close();
    })();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Refuses attachments that cannot be taken; a repeat of a command is checked anew, with the same result. */
  async #stored(parts: InputPart[]): Promise<InputPart[]> {
    const { session } = this.#options;
    const checked = await checkAttachments(parts, (blob) => session.readBlob(blob));
    return withoutLongText(checked, (bytes) => session.storeBlob(bytes));
  }

  /** Decides in the session's queue, with a repeat told from a new command there too; answers with the seq that the command has. */
  async #command(command: CommandMark, decide: (conversation: Conversation) => Draft[]): Promise<number> {
    if (this.#closed !== null)
      throw new RequestError(
        'unavailable',
        'Alcove is shutting down. Nothing was changed; send it again when it is back.',
      );
    const { result, seq } = await this.#options.session.transact((conversation) => {
      const known = repeated(conversation, command, this.#options.clock.now());
      return known === null ? { events: decide(conversation), result: null } : { events: [], result: known };
    });
    return result ?? seq;
  }
}
