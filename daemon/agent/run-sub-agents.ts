/** The sub-agents of one run in a terminal: each in a session of the home, open as long as the run is. The daemon's live with its other agents. */
import type { SessionId } from '#protocol/values/ids.ts';
import type { HomePaths } from '../base/files.ts';
import { newId, type Ids } from '../base/ids.ts';
import { placeInHome } from '../session/place.ts';
import { recover } from '../session/recovery.ts';
import { Session, type SessionOptions } from '../session/session.ts';
import { Agent, type AgentOptions } from './agent.ts';
import { makeAgentFolders } from './agent-folders.ts';
import { endOrphans, SessionProcesses } from './process-ledger.ts';
import { AgentTree } from './agent-tree.ts';
import { beginningOf, type SubAgents, type SubAgentStart } from './sub-agents.ts';

type Shared = Omit<AgentOptions, 'session' | 'processes' | 'subAgents' | 'modeLimit' | 'childMoves'>;

export class RunSubAgents implements SubAgents {
  readonly #home: HomePaths;
  readonly #ids: Ids;
  readonly #shared: Shared;
  readonly #sessionOptions: SessionOptions;
  readonly #model: () => string | null;
  readonly #tree = new AgentTree<Agent>();
  /** Told when something happened in one of them. */
  heard: () => void = () => undefined;

  constructor(options: {
    home: HomePaths;
    ids: Ids;
    shared: Shared;
    sessionOptions: SessionOptions;
    model: () => string | null;
  }) {
    this.#home = options.home;
    this.#ids = options.ids;
    this.#shared = options.shared;
    const { published } = options.sessionOptions;
    this.#sessionOptions = {
      ...options.sessionOptions,
      published: (session, events) => {
        published?.(session, events);
        this.heard();
      },
    };
    this.#model = options.model;
  }

  /** The first agent, that of the run itself. */
  root(session: Session, processes: AgentOptions['processes']): Agent {
    const agent = this.#agentOn(session, processes, null);
    const { sessionId } = session.conversation.session ?? {};
    if (sessionId !== undefined) this.#tree.put(sessionId, agent);
    return agent;
  }

  get all(): readonly Agent[] {
    return this.#tree.all;
  }

  newSessionId(): SessionId {
    return newId('ses', this.#ids);
  }

  model(): string | null {
    return this.#model();
  }

  async begin(start: SubAgentStart): Promise<Agent> {
    await makeAgentFolders(this.#home);
    const session = await Session.create(placeInHome(this.#home, start.sessionId), this.#sessionOptions);
    await session.append(beginningOf(start, this.#ids));
    const agent = this.#keep(start.sessionId, session);
    agent.start();
    return agent;
  }

  async find(sessionId: SessionId): Promise<Agent | null> {
    const known = this.#tree.get(sessionId);
    if (known !== undefined) return known;
    const place = placeInHome(this.#home, sessionId);
    const session = await Session.open(place, this.#sessionOptions).catch(() => null);
    if (session === null) return null;
    await recover(session, await endOrphans(place.processes, sessionId));
    return this.#keep(sessionId, session);
  }

  /** The deepest first: each agent closes its own session. */
  async close(): Promise<void> {
    for (const agent of this.all.toReversed()) await agent.close();
  }

  #keep(sessionId: SessionId, session: Session): Agent {
    const parent = session.conversation.session?.spawned?.sessionId ?? null;
    const agent = this.#agentOn(session, new SessionProcesses(session.place.processes, sessionId), parent);
    this.#tree.put(sessionId, agent);
    return agent;
  }

  #agentOn(session: Session, processes: AgentOptions['processes'], parent: SessionId | null): Agent {
    return new Agent({
      ...this.#shared,
      session,
      processes,
      subAgents: this,
      modeLimit: parent === null ? null : () => this.#tree.modeOf(parent),
      childMoves: (conversation) => this.#tree.anyMovesBelow(conversation),
    });
  }
}
