/**
 * The composition root of the daemon: builds every room, hands each what it needs, and closes them in reverse. The only file that knows them
 * all. One daemon a home: the kernel's lock on the home says so, `daemon.json` only tells where it is.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream, watch } from 'node:fs';
import { readFile, realpath, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import type { SandboxState } from '#protocol/values/sandbox.ts';
import type { Project } from '#protocol/values/project.ts';
import type { Notice } from '#protocol/notices/notice.ts';
import { z } from '#protocol/schema.ts';
import { makeAgentFolders } from './agent/agent-folders.ts';
import { RequestError } from '#protocol/errors.ts';
import { Agents } from './agent/agents.ts';
import { sessionHandlers } from './agent/commands.ts';
import { jobHandlers } from './agent/jobs/commands.ts';
import { systemClock } from './base/clock.ts';
import { Diagnostics } from './base/diagnostics.ts';
import { homePaths, writeFileAtomically, type HomePaths } from './base/files.ts';
import { SystemIds } from './base/ids.ts';
import { acquireLock } from './base/lock.ts';
import { processStartTime } from './base/process-table.ts';
import { Scope } from './base/scope.ts';
import { openModelAccess } from './model-access.ts';
import { pictureHandlers } from './pictures/commands.ts';
import { documentHandlers } from './pictures/document-commands.ts';
import { Server } from './server/server.ts';
import { Blobs } from './session/blobs.ts';
import { Catalog } from './session/catalog.ts';
import { LogFolder } from './session/log-folder.ts';
import { Tidying } from './session/storage/tidying.ts';
import { FileQueue } from './tools/file-queue.ts';
import { scrubEnvironment } from './tools/process-environment.ts';
import { builtInTools } from './tools/registry.ts';
import { Sandbox } from './tools/sandbox/sandbox.ts';
import { folderHandlers } from './workspace/folders/commands.ts';
import { Folders } from './workspace/folders/folders.ts';
import { modelHandlers } from './workspace/models/commands.ts';
import { projectHandlers } from './workspace/projects/commands.ts';
import { Projects } from './workspace/projects/projects.ts';
import { ruleHandlers } from './workspace/rules/commands.ts';
import { Rules } from './workspace/rules/rules.ts';
import { providerHandlers } from './workspace/providers/commands.ts';

export interface DaemonOptions {
  home: string;
  userHome: string;
  environment: Readonly<Record<string, string | undefined>>;
  port: number;
  version: string;
  webFolder: string;
  /** The folder that it was started in: offered as a project. */
  folder: string | null;
  /** Called where a person asks for the end: closing is the caller's. Missing: nobody can ask for it. */
  readonly stop?: (reason: string) => void;
}

/** What a running daemon leaves for the command line, owner-only. */
export const daemonFile = z.object({
  pid: z.int(),
  startTime: z.nullable(z.string()),
  port: z.int(),
  token: z.string(),
  bootId: z.string(),
  version: z.string(),
});
export type DaemonFile = z.infer<typeof daemonFile>;

/** Another daemon owns the home. */
export class HomeBusyError extends Error {
  override readonly name = 'HomeBusyError';
  constructor(home: string) {
    super(`An Alcove runs on ${home} already.`);
  }
}

export class Daemon {
  readonly server: Server;
  /** What holds commands back. */
  readonly sandbox: SandboxState;
  /** What is wrong with the settings, or was with kept files: a sentence each, for whoever started it. */
  readonly problems: readonly string[];
  readonly #diagnostics: Diagnostics;
  readonly #scope: Scope;

  private constructor(
    server: Server,
    sandbox: SandboxState,
    problems: readonly string[],
    diagnostics: Diagnostics,
    scope: Scope,
  ) {
    this.server = server;
    this.sandbox = sandbox;
    this.problems = problems;
    this.#diagnostics = diagnostics;
    this.#scope = scope;
  }

  /** Rejects with HomeBusyError, with the server's PortBusyError, or with what the system says of the home; then nothing stays open. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const scope = new Scope();
    try {
      return await Daemon.#assemble(options, scope);
    } catch (error) {
      await scope.close();
      throw error;
    }
  }

  static async #assemble(options: DaemonOptions, scope: Scope): Promise<Daemon> {
    const home = homePaths(options.home);
    await makeAgentFolders(home);
    const lock = acquireLock(join(home.locks, 'home'));
    if (lock === null) throw new HomeBusyError(options.home);
    scope.onClose(() => lock.release());
    // Paths are compared as they lead, links followed.
    const [realHome, realUserHome] = [await realpath(options.home), await realPathOf(options.userHome)];

    const clock = systemClock;
    const ids = new SystemIds(clock);
    const diagnostics = new Diagnostics(home.diagnostics, clock);
    scope.onClose(() => diagnostics.close());
    const fault = (error: unknown) => diagnostics.error('A fault', { error });
    const news = new News();
    const problems: string[] = [];
    const aside = (corrupt: { keptAt: string; reason: string } | null) => {
      if (corrupt !== null)
        problems.push(`A file could not be understood (${corrupt.reason}); it is kept as ${corrupt.keptAt}.`);
    };

    let revision = 0;
    const modelsNotice = (): Notice => ({ topic: 'models', revision });
    const access = scope.own(
      await openModelAccess({
        home: options.home,
        environment: options.environment,
        clock,
        secret: (key) => diagnostics.keepSecret(key),
        changed: () => {
          revision += 1;
          news.tell(modelsNotice());
        },
      }),
    );
    const { settings, models, connections } = access;
    problems.push(...access.problems);

    const offered = () => (options.folder === null || projects.at(options.folder) !== null ? null : options.folder);
    const openedProjects = await Projects.open({
      path: join(options.home, 'projects.json'),
      clock,
      ids,
      userHome: options.userHome,
      forbidden: realHome,
      changed: () => news.tell({ topic: 'projects', projects: projects.list(), offered: offered() }),
    });
    const projects = scope.own(openedProjects.projects);
    aside(openedProjects.corrupt);
    const openedRules = await Rules.open(join(options.home, 'rules.json'), clock, ids);
    const rules = scope.own(openedRules.rules);
    aside(openedRules.corrupt);

    const sandbox = scope.own(await Sandbox.open(settings.value.sandbox, scrubEnvironment(options.environment, [])));
    if (sandbox.state.problem !== null) problems.push(sandbox.state.problem);

    const defaultModel = () => models.default;
    const rowFacts = { defaultModel, projectIdOf: (project: Project) => projects.idOf(project) };
    const catalog = scope.own(await Catalog.open(home, rowFacts));
    const agents = scope.own(
      new Agents({
        home,
        clock,
        catalog,
        logs: new LogFolder(home.sessions, clock),
        owner: 'the daemon',
        durability: settings.value.durability,
        tools: builtInTools(new FileQueue()),
        sandbox,
        processEnvironment: () => scrubEnvironment(options.environment, models.keyNames),
        forbidden: [options.home],
        defaultModel,
        rowFacts,
        ids,
        subAgentModel: () => models.subAgentModel,
        resolveModel: (name) => models.resolve(name),
        compactAt: () => settings.value.compactAt,
        cap: () => settings.value.cap,
        check: (folder) => settings.value.checks.get(folder) ?? null,
        rules: (projectId) => (projectId === null ? [] : rules.list(projectId)),
        makeRule: async (projectId, allowed) => {
          if (projectId !== null) await rules.add(projectId, allowed);
        },
        seenProject: (project) => projects.adopt(project),
        changed: (session) => {
          if (session.projectId === null || !projects.hidden().includes(session.projectId))
            news.tell({ topic: 'session', session });
        },
        fault,
      }),
    );
    await agents.start();
    // Settings that a person saves are heard by every page at once; where the home cannot be watched, at the next list or step.
    scope.onClose(watchFile(home.home, 'settings.json', () => void models.refresh().catch(fault)));

    const folders = new Folders({
      userHome: realUserHome,
      forbidden: realHome,
      projects: () => projects.list().map((one) => one.path),
      recent: () => recentFolders(projects, catalog, options.folder),
    });
    const blobs = new Blobs(home.blobs);
    scope.own(
      new Tidying({
        home,
        clock,
        collected: ({ freed, blobsKept }) => diagnostics.info('Tidied', { freed, blobsKept }),
        fault,
      }),
    );
    const bootId = randomUUID();
    const about = { name: hostname(), version: options.version, bootId, features: [] };
    const server = scope.own(
      await Server.open({
        home: options.home,
        webFolder: options.webFolder,
        port: options.port,
        about,
        clock,
        ids,
        diagnostics,
        sessions: { open: (sessionId) => agents.source(sessionId) },
        notices: {
          current: () => [
            { topic: 'projects', projects: projects.list(), offered: offered() },
            modelsNotice(),
            { topic: 'sandbox', ...sandbox.state },
            ...shownRows(catalog.unfinished(), projects).map((session): Notice => ({ topic: 'session', session })),
          ],
          watch: (changed) => news.watch(changed),
        },
        blobs: {
          put: (bytes) => blobs.put(bytes),
          open: async (sha256) => {
            const path = blobs.pathOf(sha256);
            const found = await stat(path).catch(() => null);
            return found === null ? null : { bytes: found.size, stream: createReadStream(path) };
          },
        },
        sandbox: sandbox.state,
        counts: () => countRows(shownRows(catalog.unfinished(), projects), catalog.count()),
        handlers: {
          ...sessionHandlers({
            agents,
            catalog,
            project: (projectId) => projects.get(projectId),
            hiddenProjects: () => projects.hidden(),
            chooseModel: (named) => models.choice(named, null),
            effortsOf: (name) => models.effortsOf(name),
          }),
          'machine.stop': async ({ force }, caller) => {
            if (caller.kind !== 'command-line' || options.stop === undefined)
              throw new RequestError('unauthorized', 'Only the command line of its own user can end Alcove.');
            if (!force) await requireRest(agents, catalog);
            // Behind the answer, so that it still goes out.
            setImmediate(() => options.stop?.(force ? 'alcove stop --force' : 'alcove stop'));
            return {};
          },
          ...jobHandlers(agents),
          ...projectHandlers(projects, offered),
          ...folderHandlers(folders),
          ...pictureHandlers(blobs),
          ...documentHandlers(blobs),
          ...ruleHandlers(rules),
          ...modelHandlers(models, () => settings.problems),
          ...providerHandlers(connections, () => settings.problems),
        },
      }),
    );
    await writeDaemonFile(home, { port: server.port, token: server.processToken, bootId, version: options.version });
    scope.onClose(() => rm(home.daemon, { force: true }));
    diagnostics.info('Started', { port: server.port, version: options.version });
    return new Daemon(server, sandbox.state, problems, diagnostics, scope);
  }

  /** Door first, then agents (what moves is closed as interrupted, no process is left), then what they use; the home's lock last. */
  close(reason: string): Promise<void> {
    this.#diagnostics.info('Stopping', { reason });
    return this.#scope.close();
  }
}

/** RT21: an end would interrupt what moves, and end what commands left running. */
async function requireRest(agents: Agents, catalog: Catalog): Promise<void> {
  const moving = await agents.moving();
  if (moving.length === 0) return;
  const titles = moving.slice(0, 5).map((sessionId) => `“${catalog.get(sessionId)?.title ?? sessionId}”`);
  const more = moving.length > titles.length ? ` and ${moving.length - titles.length} more` : '';
  throw new RequestError(
    'busy',
    `Work runs in ${titles.join(', ')}${more}. Nothing was changed: wait for it (alcove stop --wait), or end it all the same (alcove stop --force).`,
  );
}

/** A person without a home folder can still have projects. */
function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Folders by the last work in them, then those of removed projects, then the one that the daemon was started in. */
function recentFolders(projects: Projects, catalog: Catalog, startedIn: string | null): string[] {
  const { sessions } = catalog.list({ hidden: [], limit: lookedThrough });
  const last = (projectId: string) => sessions.find((one) => one.projectId === projectId)?.updatedAt ?? 0;
  const known = projects.folders();
  const byWork = known.toSorted(
    (a, b) => Number(a.removed) - Number(b.removed) || last(b.projectId) - last(a.projectId),
  );
  return [...byWork.map((one) => one.path), ...(startedIn === null ? [] : [startedIn])];
}

/** Sessions, newest first, that tell which project was worked in last. */
const lookedThrough = 200;

/** Passes news on to every client that listens. */
class News {
  readonly #listeners = new Set<(notice: Notice) => void>();

  tell(notice: Notice): void {
    for (const listener of this.#listeners) listener(notice);
  }

  watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function shownRows(rows: readonly SessionSummary[], projects: Projects): SessionSummary[] {
  const hidden = projects.hidden();
  return rows.filter((row) => row.projectId === null || !hidden.includes(row.projectId));
}

function countRows(rows: readonly SessionSummary[], all: number): { running: number; waiting: number; all: number } {
  const unfinished = rows.filter((row) => row.spawned === undefined);
  const count = (...states: SessionSummary['state'][]) => unfinished.filter((row) => states.includes(row.state)).length;
  return { running: count('running', 'pausing'), waiting: count('waiting'), all };
}

/** Calls back when one file of a folder is written, also where it is replaced as a whole. */
function watchFile(folder: string, file: string, changed: () => void): () => void {
  let soon: NodeJS.Timeout | null = null;
  const watcher = watch(folder, { persistent: false }, (_, name) => {
    if (name !== file) return;
    soon ??= setTimeout(() => {
      soon = null;
      changed();
    }, 200);
  });
  watcher.on('error', () => watcher.close());
  return () => {
    if (soon !== null) clearTimeout(soon);
    watcher.close();
  };
}

async function writeDaemonFile(home: HomePaths, facts: Omit<DaemonFile, 'pid' | 'startTime'>): Promise<void> {
  const file: DaemonFile = { pid: process.pid, startTime: await processStartTime(process.pid), ...facts };
  await writeFileAtomically(home.daemon, `${JSON.stringify(file)}\n`);
}

/** Where a running daemon of this home is, as it left word; null where it left none that can be read. */
export async function readDaemonFile(home: string): Promise<DaemonFile | null> {
  try {
    const result = z.safeParse(daemonFile, JSON.parse(await readFile(homePaths(home).daemon, 'utf8')));
    return result.success ? result.data : null;
  } catch {
    return null;
  }
}
