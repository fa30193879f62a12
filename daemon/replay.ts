/**
 * A composition root of its own: a recorded run once more, offline. The agent and its log are the real ones, in a folder that is gone
 * afterwards; the model, the tools, the prompt and the person are the recording's. No provider and no tool is made, no settings or keys are
 * read, nothing of the project is touched. What goes another way than it did is a difference, and ends the replay.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { CommandMark, Draft, SessionEvent } from '#protocol/event.ts';
import type { CommandId } from '#protocol/values/ids.ts';
import { LOG_VERSION } from '#protocol/version.ts';
import type { Agent } from './agent/agent.ts';
import { makeAgentFolders } from './agent/agent-folders.ts';
import { SessionProcesses } from './agent/process-ledger.ts';
import { RunSubAgents } from './agent/run-sub-agents.ts';
import { systemClock } from './base/clock.ts';
import { digestOf } from './base/digest.ts';
import { messageOf } from './base/errors.ts';
import { homePaths } from './base/files.ts';
import { newId, SystemIds } from './base/ids.ts';
import { Scope } from './base/scope.ts';
import { placeNames, PlainWords } from './recording/plain-words.ts';
import { readRecording, type Recording } from './recording/recording.ts';
import { recordedPrompt, Replayed } from './recording/replayed.ts';
import { ReplayedPerson } from './recording/replayed-person.ts';
import { placeInHome } from './session/place.ts';
import { Session, type SessionOptions } from './session/session.ts';
import { Sandbox } from './tools/sandbox/sandbox.ts';

export interface ReplayOptions {
  file: string;
  /** What the run said to calls that nobody could allow, and to questions that nobody could answer: its words are part of what is compared. */
  readonly unattended: (caution: boolean) => string;
  readonly noAnswer: (plan: boolean) => string;
  /** Told of each event of the run's own session, once it is durable. */
  readonly heard: (event: SessionEvent) => void;
}

export interface ReplayReport {
  /** The first difference; null where everything came as it was recorded. */
  readonly difference: string | null;
  readonly exchanges: number;
  readonly results: number;
  readonly conversation: Conversation;
}

/** Rejects where the recording cannot be read. */
export async function replay(options: ReplayOptions): Promise<ReplayReport> {
  const recording = await readRecording(options.file);
  const scratch = await mkdtemp(join(tmpdir(), 'alcove-replay-'));
  const scope = new Scope();
  scope.onClose(() => rm(scratch, { recursive: true, force: true }));
  try {
    return await new Replay(recording, scratch, scope, options).run();
  } finally {
    await scope.close();
  }
}

class Replay {
  readonly #recording: Recording;
  readonly #scratch: string;
  readonly #scope: Scope;
  readonly #options: ReplayOptions;
  readonly #ids = new SystemIds(systemClock);
  readonly #refused = new AbortController();
  readonly #person: ReplayedPerson;
  #agents: RunSubAgents | null = null;
  #difference: string | null = null;

  constructor(recording: Recording, scratch: string, scope: Scope, options: ReplayOptions) {
    this.#recording = recording;
    this.#scratch = scratch;
    this.#scope = scope;
    this.#options = options;
    this.#person = new ReplayedPerson(recording, (what) => this.#refuse(what));
  }

  async run(): Promise<ReplayReport> {
    const words = new PlainWords([
      { path: this.#folder, name: placeNames.project },
      { path: this.#home, name: placeNames.alcove },
    ]);
    const replayed = new Replayed(this.#recording, words, {
      difference: (what) => this.#refuse(what),
      stopped: () => this.#stopped(),
    });
    const agent = await this.#agent(replayed);
    await this.#acts(agent).catch((error: unknown) => {
      if (!this.#refused.signal.aborted) this.#refuse(messageOf(error));
    });
    // What moves still is ended, and told to the person's ends, before anything is compared.
    if (this.#refused.signal.aborted) await agent.stop();
    const rest = [...replayed.left(), ...this.#person.left()];
    return {
      difference: this.#difference ?? rest[0] ?? this.#recording.incomplete,
      exchanges: replayed.exchanges,
      results: replayed.results,
      conversation: agent.conversation,
    };
  }

  get #home(): string {
    return join(this.#scratch, 'home');
  }

  get #folder(): string {
    return join(this.#scratch, 'project');
  }

  async #agent(replayed: Replayed): Promise<Agent> {
    const { header } = this.#recording;
    const { unattended, noAnswer } = this.#options;
    const home = homePaths(this.#home);
    await makeAgentFolders(home);
    const sessionOptions: SessionOptions = {
      clock: systemClock,
      owner: 'a terminal',
      durability: 'kernel',
      published: (session, events) => this.#published(session, events),
      fault: (error) => this.#refuse(messageOf(error)),
    };
    const sessionId = newId('ses', this.#ids);
    const session = await Session.create(placeInHome(home, sessionId), sessionOptions);
    const agents = this.#scope.own(
      new RunSubAgents({
        home,
        ids: this.#ids,
        sessionOptions,
        model: () => header.subAgentModel,
        shared: {
          clock: systemClock,
          tools: replayed.tools,
          sandbox: Sandbox.none,
          processEnvironment: {},
          forbidden: [home.home],
          defaultModel: () => header.model,
          resolveModel: replayed.resolve,
          prompt: () => Promise.resolve([{ name: 'recorded', text: recordedPrompt }]),
          compactAt: () => header.compactAt,
          cap: () => header.cap,
          check: () => null,
          rules: () => header.rules,
          makeRule: () => Promise.resolve(),
          unattended: header.attended ? null : unattended,
          noAnswer: header.attended ? null : (plan) => (plan && header.acceptsPlan ? null : noAnswer(plan)),
          changed: () => undefined,
          fault: (error) => this.#refuse(messageOf(error)),
        },
      }),
    );
    this.#agents = agents;
    const folder = this.#folder;
    const { model, mode, effort } = header;
    const project = {
      projectId: newId('prj', this.#ids),
      name: header.project,
      path: folder,
      addedAt: systemClock.now(),
    };
    const events: Draft[] = [
      { type: 'session.created', logVersion: LOG_VERSION, sessionId, project, folder },
      { type: 'session.configured', model, mode, ...(effort === null ? {} : { effort }) },
    ];
    await session.append(events);
    return agents.root(session, new SessionProcesses(session.place.processes, sessionId));
  }

  /** What the person said and set, in its order; each input is taken to the end of its turn. */
  async #acts(agent: Agent): Promise<void> {
    for (const act of this.#recording.acts) {
      this.#refused.signal.throwIfAborted();
      if (act.type === 'configured') {
        const { type: _, ...settings } = act;
        await agent.configure(settings, this.#mark(settings));
        continue;
      }
      const turns = agent.conversation.counts.turns;
      const input = { target: 'next-turn' as const, parts: act.parts, origin: 'command-line' as const };
      await agent.submit(input, this.#mark(input));
      for (;;) {
        const { seq, active, counts } = agent.conversation;
        if (active === null && counts.turns > turns) break;
        await agent.changed(seq, this.#refused.signal);
      }
    }
  }

  #published(session: Session, events: readonly SessionEvent[]): void {
    const facts = session.conversation.session;
    if (facts === null) return;
    for (const event of events) {
      this.#person.heard(facts, event);
      if (facts.spawned == null) this.#options.heard(event);
    }
    // Behind what is being published: an answer writes to the same log.
    setImmediate(() => void this.#answer());
  }

  async #answer(): Promise<void> {
    for (const agent of this.#agents?.all ?? []) {
      const answer = this.#person.answerTo(agent.conversation);
      if (answer === null) continue;
      try {
        if (answer === 'stop') await this.#agents?.all[0]?.abort(this.#mark({ abort: true }));
        else if (answer.type === 'approval') await agent.answer(answer.answer, this.#mark(answer));
        else await agent.reply(answer.reply, this.#mark(answer));
      } catch (error) {
        this.#refuse(messageOf(error));
      }
    }
  }

  /** Stops the run's own agent where the person did: its turn ended as aborted. */
  #stopped(): boolean {
    if (!this.#person.stopsNext) return false;
    void this.#agents?.all[0]
      ?.abort(this.#mark({ abort: true }))
      .catch((error: unknown) => this.#refuse(messageOf(error)));
    return true;
  }

  #refuse(what: string): void {
    this.#difference ??= what;
    this.#refused.abort(new Error(what));
  }

  #mark(params: object): CommandMark {
    return { id: this.#ids.uuid7() as CommandId, digest: digestOf(params) };
  }
}
