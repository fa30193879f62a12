/**
 * The agents of one home: opened when they are needed, kept while they work or are watched, closed when they have been idle for a while. Also
 * the one place that knows whether a session is written here, by somebody else, or can only be read. Each change of a session's row is told once.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import type { DriverState, SessionSummary } from '#protocol/commands/session-values.ts';
import { atRest } from '#protocol/conversation/open.ts';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark, Draft, SessionEvent } from '#protocol/event.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import type { InputPart } from '#protocol/values/content.ts';
import type { ContextReport } from '#protocol/values/context-report.ts';
import type { ProjectId, SessionId } from '#protocol/values/ids.ts';
import type { Effort, Mode } from '#protocol/values/model.ts';
import type { Project } from '#protocol/values/project.ts';
import { LOG_VERSION } from '#protocol/version.ts';
import type { Clock } from '../base/clock.ts';
import type { HomePaths } from '../base/files.ts';
import { folderNewsMs, foreignLookMs, idleSessionMs } from '../base/limits.ts';
import { isLocked } from '../base/lock.ts';
import { newId, type Ids } from '../base/ids.ts';
import { SerialQueue } from '../base/serial.ts';
import type { ResolveModel } from '../llm/resolved-model.ts';
import type { Catalog } from '../session/catalog.ts';
import { forkSession } from '../session/fork.ts';
import { History } from '../session/history.ts';
import type { LogFolder } from '../session/log-folder.ts';
import { placeInHome } from '../session/place.ts';
import { crashed, recover } from '../session/recovery.ts';
import { ownerOf, Session, type SessionOptions } from '../session/session.ts';
import { isHidden, summarise, withRequestsBelow, type RowFacts } from '../session/summary.ts';
import type { Tool } from '../tools/tool.ts';
import type { Sandbox } from '../tools/sandbox/sandbox.ts';
import { Agent } from './agent.ts';
import { AgentTree } from './agent-tree.ts';
import type { Allowed } from './rules.ts';
import { checkAttachments } from './attachments.ts';
import { reportOfLog } from './context/report-of-log.ts';
import { repeated, requireRoom, type TurnCap } from './decide.ts';
import { withoutLongText } from './long-text.ts';
import { endOrphans, SessionProcesses } from './process-ledger.ts';
import { beginningOf, childrenOf, spentBy, type SubAgentStart } from './sub-agents.ts';
import { WatchedLog } from '../session/watched-log.ts';

export interface AgentsOptions {
  home: HomePaths;
  clock: Clock;
  ids: Ids;
  catalog: Catalog;
  logs: LogFolder;
  owner: 'the daemon' | 'a terminal';
  durability: SessionOptions['durability'];
  tools: readonly Tool[];
  readonly sandbox: Sandbox;
  readonly processEnvironment: () => Readonly<Record<string, string>>;
  forbidden: readonly string[];
  readonly defaultModel: () => string;
  rowFacts: RowFacts;
  readonly resolveModel: ResolveModel;
  /** The model that the settings name for sub-agents. */
  readonly subAgentModel: () => string | null;
  /** See AgentOptions. */
  readonly compactAt: () => number | null;
  readonly cap: () => TurnCap;
  readonly check: (folder: string) => string | null;
  readonly rules: (projectId: ProjectId | null) => readonly Allowed[];
  readonly makeRule: (projectId: ProjectId | null, allowed: Allowed) => Promise<void>;
  /** A session of this project was found in the home: one that a run in a terminal made may be of a project that is not known yet. */
  readonly seenProject: (project: Project) => Promise<void>;
  /** A session's row has changed. */
  readonly changed: (summary: SessionSummary) => void;
  readonly fault: (error: unknown) => void;
}

export interface NewSession {
  sessionId: SessionId;
  project: Project;
  folder: string;
  model: string;
  effort: Effort | null;
  mode: Mode;
  input: InputPart[] | null;
}

/** One session as a reader sees it, whoever writes it. */
export interface SessionReading {
  readonly seq: number;
  read(after: number, maxBytes: number): Promise<SessionEvent[]>;
  changed(after: number, signal: AbortSignal): Promise<void>;
  tail(tailBytes: number): Promise<{ base: Conversation }>;
  page(before: number): Promise<{ base: Conversation; events: SessionEvent[] }>;
  release(): void;
}

interface Live {
  agent: Agent;
  processes: SessionProcesses;
  /** What the row said when it was last told. */
  told: string;
  readers: number;
  idleSince: number;
}

const refreshedAtOnce = 8;

export class Agents {
  readonly #options: AgentsOptions;
  readonly #live = new Map<SessionId, Promise<Live>>();
  /** Being closed: whoever wants one of these waits, and opens it anew. */
  readonly #leaving = new Map<SessionId, Promise<void>>();
  readonly #tree = new AgentTree<Agent>();
  readonly #watched = new Map<SessionId, { log: WatchedLog; readers: number }>();
  /** Written by somebody else just now. */
  readonly #foreign = new Set<SessionId>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #foreignLooker: NodeJS.Timeout;
  /** Looking at the folder: whoever asks meanwhile waits, and sees what was found. */
  readonly #looks = new SerialQueue();
  #lookingSoon: NodeJS.Timeout | null = null;
  #closing = false;

  constructor(options: AgentsOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => void this.#closeIdle(), idleSessionMs / 2);
    this.#sweeper.unref();
    this.#foreignLooker = setInterval(() => void this.#lookAtForeign(), foreignLookMs);
    this.#foreignLooker.unref();
  }

  /**
   * Before anything is served: rows are made true, what a killed daemon left moving is closed, its orphans are ended, and input that waits
   * behind a turn that ended well starts. What rests stays as it is, unopened.
   */
  async start(): Promise<void> {
    const { catalog, logs } = this.#options;
    logs.follow((sessionId) => this.#hear(sessionId));
    await this.#looks.run(() => this.#makeRowsTrue());
    for (const row of catalog.unfinished()) {
      // A sub-agent starts when it is begun, and not again.
      if (
        row.spawned === undefined &&
        row.state === 'queued' &&
        (row.lastOutcome === null || row.lastOutcome === 'completed')
      )
        await this.#open(row.sessionId).catch(this.#options.fault);
    }
  }

  async #makeRowsTrue(): Promise<void> {
    const { catalog, home } = this.#options;
    const unclean = new Set<SessionId>([...catalog.open(), ...(await this.#withProcesses())]);
    const changed = await this.#changed();
    const present = async (sessionId: SessionId) =>
      (await stat(placeInHome(home, sessionId).log).catch(() => null)) !== null;
    for (const sessionId of unclean) if (!(await present(sessionId))) unclean.delete(sessionId);
    await this.#refreshAll(new Set([...unclean, ...changed]), unclean);
  }

  /** Looks for sessions that others made or changed, such as a run in a terminal. Touches no log that did not change. */
  lookAround(): Promise<void> {
    return this.#looks.run(async () => this.#refreshAll(new Set(await this.#changed()), new Set()));
  }

  async #changed(): Promise<SessionId[]> {
    const { logs, catalog } = this.#options;
    for (const sessionId of this.#foreign) logs.suspect(sessionId);
    const looked = await logs.look();
    const ours = new Set([...this.#live.keys(), ...this.#leaving.keys()]);
    try {
      return catalog.changed(looked, ours);
    } catch (error) {
      logs.suspectAll();
      throw error;
    }
  }

  /** A log was written; what is written here, and what is looked at anyway as somebody else writes it, tells of itself. */
  #hear(sessionId: SessionId | null): void {
    if (sessionId !== null) {
      if (this.#live.has(sessionId) || this.#leaving.has(sessionId) || this.#foreign.has(sessionId)) return;
    }
    this.#lookingSoon ??= setTimeout(() => {
      this.#lookingSoon = null;
      if (!this.#closing) this.lookAround().catch(this.#options.fault);
    }, folderNewsMs);
    this.#lookingSoon.unref();
  }

  async #lookAtForeign(): Promise<void> {
    for (const sessionId of this.#foreign) if (!this.#closing) await this.#refresh(sessionId, false);
  }

  /** The agent of a session, opened for writing. Rejects with `not_found`, `busy` or `read_only`. */
  async agent(sessionId: SessionId): Promise<Agent> {
    const live = await this.#open(sessionId);
    live.idleSince = this.#options.clock.now();
    // Whoever waits for a sub-agent is there before anything is done with it.
    const above = live.agent.conversation.session?.spawned?.sessionId;
    if (above !== undefined) await this.agent(above).catch(() => undefined);
    return live.agent;
  }

  async create(request: NewSession, command: CommandMark): Promise<number> {
    return this.#makeNew(request.sessionId, command, () => this.#begin(request, command));
  }

  async #begin(request: NewSession, command: CommandMark): Promise<Session> {
    const { project, folder, model, effort, mode, input, sessionId } = request;
    const place = placeInHome(this.#options.home, sessionId);
    const session = await Session.create(place, this.#sessionOptions());
    try {
      const parts = input === null ? null : await this.#firstParts(session, input);
      const target = 'next-turn';
      const first: Draft[] =
        parts === null ? [] : [{ type: 'input.queued', inputId: command.id, target, parts, origin: 'person' }];
      await session.append([
        { type: 'session.created', command, logVersion: LOG_VERSION, sessionId, project, folder },
        { type: 'session.configured', model, mode, ...(effort === null ? {} : { effort }) },
        ...first,
      ]);
      return session;
    } catch (error) {
      await session.close();
      await rm(place.log, { force: true });
      throw error;
    }
  }

  async #firstParts(session: Session, input: InputPart[]): Promise<InputPart[]> {
    const checked = await checkAttachments(input, (blob) => session.readBlob(blob));
    requireRoom(emptyConversation, [], checked);
    return withoutLongText(checked, (bytes) => session.storeBlob(bytes));
  }

  /** Makes a session that is not there yet. Of two that ask at once for the same one, or ask again, the second is told what the first was told. */
  async #makeNew(sessionId: SessionId, command: CommandMark, make: () => Promise<Session>): Promise<number> {
    if (this.#closing) throw new RequestError('unavailable', 'Alcove is shutting down.');
    const { log } = placeInHome(this.#options.home, sessionId);
    // Two that ask at once must not both make it: nothing is waited for between this question and `#keep`.
    const there = this.#live.has(sessionId) || (await hasBegun(log));
    if (!there && !this.#live.has(sessionId)) {
      const making = rm(log, { force: true })
        .then(make)
        .then((session) => this.#make(sessionId, session));
      this.#keep(sessionId, making);
      await making;
    }
    const { conversation } = await this.agent(sessionId);
    const known = repeated(conversation, command, this.#options.clock.now());
    if (known !== null) return known;
    throw new RequestError('conflict', 'A session with this id exists already. Make a new id.');
  }

  async fork(sourceId: SessionId, upTo: number, sessionId: SessionId, command: CommandMark): Promise<number> {
    const { home } = this.#options;
    const source = placeInHome(home, sourceId);
    const target = { place: placeInHome(home, sessionId), sessionId };
    return this.#makeNew(sessionId, command, async () => {
      await this.#mustExist(sourceId);
      const history = await History.open(source.log);
      try {
        return await forkSession({ history, sessionId: sourceId }, upTo, target, this.#sessionOptions(), command);
      } finally {
        await history.close();
      }
    });
  }

  /** A session to read and follow. Opened for writing where that can be, so that reader and writer share one view; else from its file. */
  async source(sessionId: SessionId): Promise<SessionReading> {
    let live: Live;
    try {
      live = await this.#open(sessionId);
    } catch (error) {
      if (error instanceof RequestError && (error.code === 'busy' || error.code === 'read_only'))
        return this.#watch(sessionId);
      throw error;
    }
    const { session } = live.agent;
    live.readers += 1;
    let released = false;
    return {
      get seq() {
        return session.seq;
      },
      read: (after, maxBytes) => session.read(after, maxBytes),
      changed: (after, signal) => session.changed(after, signal),
      tail: async (tailBytes) => ({ base: await session.tail(tailBytes) }),
      page: (before) => session.page(before),
      release: () => {
        if (released) return;
        released = true;
        live.readers -= 1;
        live.idleSince = this.#options.clock.now();
      },
    };
  }

  /** Of any session that can be read, also of one that is written elsewhere. */
  async contextReport(sessionId: SessionId): Promise<ContextReport> {
    try {
      return await (await this.agent(sessionId)).contextReport();
    } catch (error) {
      if (error instanceof RequestError && (error.code === 'busy' || error.code === 'read_only'))
        return reportOfLog(placeInHome(this.#options.home, sessionId));
      throw error;
    }
  }

  /** A blob by its hash, whatever session refers to it. */
  async readBlob(blob: Pick<BlobRef, 'sha256'>, sessionId: SessionId): Promise<Uint8Array | null> {
    return (await this.#open(sessionId)).agent.session.readBlob(blob);
  }

  /** Those that are open just now, as what runs in them keeps them. */
  async opened(): Promise<{ sessionId: SessionId; agent: Agent }[]> {
    return (await this.#opened()).map(([sessionId, { agent }]) => ({ sessionId, agent }));
  }

  /** Sessions whose driver is at work. */
  async busy(): Promise<SessionId[]> {
    const opened = await this.#opened();
    return opened.filter(([, { agent }]) => agent.state !== 'idle' && agent.state !== 'paused').map(([id]) => id);
  }

  /** Sessions that an end would interrupt: something moves in them, or their commands left something running. */
  async moving(): Promise<SessionId[]> {
    const moving: SessionId[] = [];
    for (const [sessionId, live] of await this.#opened()) {
      const { conversation, state } = live.agent;
      const betweenSteps = state === 'running' && conversation.active?.step === null;
      if (betweenSteps || !atRest(conversation) || (await live.processes.anyRunning())) moving.push(sessionId);
    }
    return moving;
  }

  /** Closes every agent: what moves is closed as interrupted, what rests stays open; no process of a tool is left. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#sweeper);
    clearInterval(this.#foreignLooker);
    if (this.#lookingSoon !== null) clearTimeout(this.#lookingSoon);
    this.#options.logs.close();
    await this.#looks.idle();
    for (const { log } of this.#watched.values()) await log.close();
    await Promise.all(
      [...this.#live.keys()].map((sessionId) =>
        this.#closeLive(sessionId).catch((error: unknown) => this.#options.fault(error)),
      ),
    );
    await Promise.allSettled(this.#leaving.values());
  }

  /** Those that could be opened, once they are. */
  async #opened(): Promise<[SessionId, Live][]> {
    const opened: [SessionId, Live][] = [];
    for (const [sessionId, opening] of this.#live) {
      const live = await opening.catch(() => null);
      if (live !== null) opened.push([sessionId, live]);
    }
    return opened;
  }

  #open(sessionId: SessionId): Promise<Live> {
    if (this.#closing) return Promise.reject(new RequestError('unavailable', 'Alcove is shutting down.'));
    let opening = this.#live.get(sessionId);
    if (opening === undefined) {
      opening = this.#openAnew(sessionId);
      this.#keep(sessionId, opening);
    }
    return opening;
  }

  #keep(sessionId: SessionId, opening: Promise<Live>): void {
    this.#live.set(sessionId, opening);
    opening.catch(() => {
      if (this.#live.get(sessionId) === opening) this.#live.delete(sessionId);
    });
  }

  async #openAnew(sessionId: SessionId): Promise<Live> {
    await this.#leaving.get(sessionId);
    await this.#mustExist(sessionId);
    const place = placeInHome(this.#options.home, sessionId);
    const session = await Session.open(place, this.#sessionOptions());
    try {
      // What a crash left of a session that never began has no folder to work in.
      if (session.conversation.session === null) throw notThere();
      await recover(session, await endOrphans(place.processes, sessionId));
      await this.#settleChildren(session);
    } catch (error) {
      await session.close();
      throw error;
    }
    return this.#make(sessionId, session);
  }

  #make(sessionId: SessionId, session: Session): Live {
    const options = this.#options;
    const project = session.conversation.session?.project ?? null;
    const projectId = () => (project === null ? null : options.rowFacts.projectIdOf(project));
    const live: { current: Live | null } = { current: null };
    const processes = new SessionProcesses(session.place.processes, sessionId);
    const spawned = session.conversation.session?.spawned ?? null;
    const agent = new Agent({
      session,
      clock: options.clock,
      tools: options.tools,
      processes,
      sandbox: options.sandbox,
      processEnvironment: options.processEnvironment(),
      forbidden: options.forbidden,
      defaultModel: options.defaultModel,
      resolveModel: options.resolveModel,
      compactAt: options.compactAt,
      cap: options.cap,
      check: options.check,
      rules: () => options.rules(projectId()),
      makeRule: (allowed) => options.makeRule(projectId(), allowed),
      unattended: null,
      noAnswer: null,
      subAgents: {
        newSessionId: () => newId('ses', options.ids),
        begin: (start) => this.#beginChild(start),
        find: (childId) => this.#open(childId).then(agentOf, () => null),
        model: options.subAgentModel,
      },
      modeLimit: spawned === null ? null : () => this.#tree.modeOf(spawned.sessionId),
      childMoves: (conversation) => this.#tree.anyMovesBelow(conversation),
      changed: (state) => {
        this.#tell(sessionId, live.current);
        if (spawned !== null && state === 'running') this.#wakeParent(spawned.sessionId, sessionId);
      },
      fault: options.fault,
    });
    this.#tree.put(sessionId, agent);
    live.current = { agent, processes, told: '', readers: 0, idleSince: options.clock.now() };
    this.#tell(sessionId, live.current);
    return live.current;
  }

  #sessionOptions(): SessionOptions {
    return {
      clock: this.#options.clock,
      owner: this.#options.owner,
      durability: this.#options.durability,
      fault: this.#options.fault,
      published: (session, events) => {
        // Increments change no row: a token costs nothing here.
        if (events.every((event) => event.type === 'part.delta' || event.type === 'tool-call.output')) return;
        const sessionId = session.conversation.session?.sessionId;
        const opening = sessionId === undefined ? undefined : this.#live.get(sessionId);
        if (sessionId !== undefined) void opening?.then((live) => this.#tell(sessionId, live)).catch(() => undefined);
      },
    };
  }

  #tell(sessionId: SessionId, live: Live | null): void {
    if (live === null) return;
    const { conversation, state } = live.agent;
    const summary = this.#summary(sessionId, conversation, state);
    const { updatedAt: _, seq: __, ...lasting } = summary;
    const told = JSON.stringify(lasting);
    if (told === live.told) return;
    live.told = told;
    this.#options.catalog.put(summary, -1, isHidden(conversation));
    this.#options.changed(summary);
    this.#tellAbove(summary);
  }

  /** US2: what waits for a person anywhere below a session stands in its row. */
  #tellAbove(child: SessionSummary): void {
    if (child.spawned === undefined || !this.#tree.hear(child) || this.#closing) return;
    const parentId = child.spawned.sessionId;
    this.#open(parentId).then(
      (live) => this.#tell(parentId, live),
      () => undefined,
    );
  }

  /** After a restart the call that waits for this sub-agent has nobody who waits: its session goes on too. */
  #wakeParent(parentId: SessionId, childId: SessionId): void {
    if (this.#closing) return;
    this.#open(parentId).then(
      ({ agent }) => agent.childWoke(childId),
      () => undefined,
    );
  }

  async #beginChild(start: SubAgentStart): Promise<Agent> {
    if (this.#closing) throw new RequestError('unavailable', 'Alcove is shutting down.');
    const { sessionId } = start;
    const opening = (async () => {
      const session = await Session.create(placeInHome(this.#options.home, sessionId), this.#sessionOptions());
      try {
        await session.append(beginningOf(start, this.#options.ids));
      } catch (error) {
        await session.close();
        throw error;
      }
      return this.#make(sessionId, session);
    })();
    this.#keep(sessionId, opening);
    const { agent } = await opening;
    agent.start();
    return agent;
  }

  /** A session whose calls wait for sub-agents rests where all of them do; else it was moving, and is closed as a crash leaves it. */
  async #settleChildren(session: Session): Promise<void> {
    const children = childrenOf(session.conversation);
    if (children.length === 0) return;
    const found = await Promise.all(
      children.map(async (child) => ({ child, agent: await this.#open(child.sessionId).then(agentOf, () => null) })),
    );
    // Opening them closed what had been moving: a turn that is open still rested, or goes on already.
    if (found.every(({ agent }) => agent !== null && agent.conversation.active !== null)) return;
    for (const { agent } of found) await agent?.stop();
    const spent = found.flatMap(({ child, agent }) =>
      agent === null ? [] : [spentBy(agent.conversation, child, 'interrupted')],
    );
    await session.transact((conversation) => ({ events: [...spent, ...crashed(conversation)], result: undefined }));
  }

  #summary(sessionId: SessionId, conversation: Conversation, driver: DriverState): SessionSummary {
    const own = summarise(sessionId, conversation, this.#options.rowFacts, { driver, problem: null, owner: null });
    return withRequestsBelow(own, this.#tree.waitingBelow(sessionId));
  }

  /** Several at once, as much of it is waiting for the disk: of a home whose catalogue is lost, all are. */
  async #refreshAll(sessionIds: ReadonlySet<SessionId>, unclean: ReadonlySet<SessionId>): Promise<void> {
    const rest = sessionIds.values();
    const some = async () => {
      for (const sessionId of rest) if (!this.#closing) await this.#refresh(sessionId, unclean.has(sessionId));
    };
    await Promise.all(Array.from({ length: refreshedAtOnce }, some));
  }

  /** As `#makeRowTrue`. One session with which something is wrong keeps no other from being looked at (RT30). */
  async #refresh(sessionId: SessionId, unclean: boolean): Promise<void> {
    await this.#makeRowTrue(sessionId, unclean).catch((error: unknown) => {
      this.#options.logs.suspect(sessionId);
      this.#options.fault(error);
    });
  }

  /** Makes a session's row true, and where a dead writer left work moving or processes running (`unclean`: may have), opens it, which closes and ends them. */
  async #makeRowTrue(sessionId: SessionId, unclean: boolean): Promise<void> {
    const place = placeInHome(this.#options.home, sessionId);
    const owner = isLocked(place.lock) && !this.#live.has(sessionId) ? await ownerOf(place) : null;
    const { summary, project } = await this.#options.catalog.refresh(sessionId, owner);
    if (project !== null) await this.#options.seenProject(project);
    if (owner === null) this.#foreign.delete(sessionId);
    else this.#foreign.add(sessionId);
    if (owner === null && summary.problem === null && (summary.driver !== 'idle' || unclean)) {
      await this.#open(sessionId).catch((error: unknown) => this.#options.fault(error));
    } else if (summary.seq > 0 || summary.problem !== null) this.#options.changed(summary);
  }

  async #withProcesses(): Promise<SessionId[]> {
    const suffix = '.processes';
    const names = await readdir(this.#options.home.locks);
    return names.filter((name) => name.endsWith(suffix)).map((name) => basename(name, suffix) as SessionId);
  }

  async #mustExist(sessionId: SessionId): Promise<void> {
    const found = await stat(placeInHome(this.#options.home, sessionId).log).catch(() => null);
    if (found === null) throw notThere();
  }

  async #watch(sessionId: SessionId): Promise<SessionReading> {
    let watched = this.#watched.get(sessionId);
    if (watched === undefined) {
      watched = { log: await WatchedLog.open(placeInHome(this.#options.home, sessionId).log), readers: 0 };
      this.#watched.set(sessionId, watched);
    }
    const { log } = watched;
    const entry = watched;
    entry.readers += 1;
    let released = false;
    return {
      get seq() {
        return log.seq;
      },
      read: (after, maxBytes) => log.read(after, maxBytes),
      changed: (after, signal) => log.changed(after, signal),
      tail: async (tailBytes) => ({ base: await log.tail(tailBytes) }),
      page: (before) => log.page(before),
      release: () => {
        if (released) return;
        released = true;
        entry.readers -= 1;
        if (entry.readers > 0) return;
        this.#watched.delete(sessionId);
        void log.close();
      },
    };
  }

  async #closeIdle(): Promise<void> {
    const now = this.#options.clock.now();
    for (const [sessionId, opening] of this.#live) {
      const live = await opening.catch(() => null);
      if (live === null) continue;
      const above = live.agent.conversation.session?.spawned?.sessionId;
      // The call that waits for it waits on this very session.
      if (above !== undefined && this.#tree.get(above)?.state === 'running') continue;
      const resting = live.agent.state === 'idle' || live.agent.state === 'paused';
      if (!resting || live.readers > 0 || now - live.idleSince <= idleSessionMs) continue;
      // Closing would end what its commands left running in the background, such as a server that a person looks at.
      if (!(await live.processes.anyRunning())) await this.#closeLive(sessionId);
    }
  }

  #closeLive(sessionId: SessionId): Promise<void> {
    const opening = this.#live.get(sessionId);
    if (opening === undefined) return Promise.resolve();
    this.#live.delete(sessionId);
    const leaving = this.#leave(sessionId, opening).finally(() => {
      this.#leaving.delete(sessionId);
      // While it was ours, what happened to its log was passed over.
      this.#options.logs.suspect(sessionId);
    });
    this.#leaving.set(sessionId, leaving);
    return leaving;
  }

  async #leave(sessionId: SessionId, opening: Promise<Live>): Promise<void> {
    const live = await opening.catch(() => null);
    if (live === null) return;
    await live.agent.close();
    // When all are closed, whether one rests is still asked for those above it.
    if (!this.#closing) this.#tree.drop(sessionId);
    const { conversation } = live.agent;
    const found = await stat(live.agent.session.place.log).catch(() => null);
    const summary = this.#summary(sessionId, conversation, conversation.active === null ? 'idle' : 'paused');
    this.#options.catalog.put(summary, found?.size ?? 0, isHidden(conversation));
    this.#options.changed(summary);
  }
}

function agentOf({ agent }: Live): Agent {
  return agent;
}

function notThere(): RequestError {
  return new RequestError('not_found', 'There is no such session on this machine.');
}

/** False: there is no log, or only what a crash left of a session that never began: an empty file, or the half of its first frame. */
async function hasBegun(log: string): Promise<boolean> {
  const found = await stat(log).catch(() => null);
  if (found === null || found.size === 0) return false;
  const history = await History.open(log);
  try {
    let torn = false;
    const { conversation } = await history.foldTail((damage) => (torn ||= damage.torn));
    return conversation.seq > 0 || !torn;
  } finally {
    await history.close();
  }
}
