/**
 * The other composition root: one run of an agent without the daemon, for `alcove run`. The session is a file that the person names, or a new one
 * in the home, where the daemon shows it, read-only, while it runs.
 */
import { readFile, stat } from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RequestError } from '#protocol/errors.ts';
import type { Draft } from '#protocol/event.ts';
import type { CommandId } from '#protocol/values/ids.ts';
import type { Effort, Mode } from '#protocol/values/model.ts';
import type { Project } from '#protocol/values/project.ts';
import { LOG_VERSION } from '#protocol/version.ts';
import type { Agent } from './agent/agent.ts';
import { makeAgentFolders } from './agent/agent-folders.ts';
import { RunSubAgents } from './agent/run-sub-agents.ts';
import { endOrphans, SessionProcesses } from './agent/process-ledger.ts';
import { systemClock } from './base/clock.ts';
import { homePaths, makeOwnerOnlyFolder } from './base/files.ts';
import { newId, SystemIds } from './base/ids.ts';
import { Scope } from './base/scope.ts';
import { effortWords } from './llm/catalogue/efforts.ts';
import { offlineName } from './llm/providers/provider-settings.ts';
import { openModelAccess } from './model-access.ts';
import { placeInHome, placeOfFile } from './session/place.ts';
import { recover } from './session/recovery.ts';
import { Session, type SessionOptions } from './session/session.ts';
import { FileQueue } from './tools/file-queue.ts';
import { scrubEnvironment } from './tools/process-environment.ts';
import { builtInTools } from './tools/registry.ts';
import { Sandbox } from './tools/sandbox/sandbox.ts';
import type { Models } from './workspace/models/models.ts';

export interface OneShotOptions {
  home: string;
  environment: Readonly<Record<string, string | undefined>>;
  folder: string;
  /** Null: a new session in the home. */
  sessionFile: string | null;
  model: string | null;
  effort: Effort | null;
  mode: Mode | null;
  /** What a call is denied with that would need an approval; null where somebody can answer. */
  unattended: ((caution: boolean) => string) | null;
  /** What a question, or a plan, is answered with where nobody can; null where somebody can. */
  noAnswer: ((plan: boolean) => string | null) | null;
  /** False: the model is offered none. */
  withTools: boolean;
  readonly fault: (error: unknown) => void;
}

export interface OneShot {
  readonly agent: Agent;
  /** It, and those that it started: closed with the run. */
  readonly subAgents: RunSubAgents;
  /** What a person should know before it begins, a sentence each. */
  readonly notes: readonly string[];
  newCommandId(): CommandId;
  /** Ends the run in order. */
  close(): Promise<void>;
}

export async function openOneShot(options: OneShotOptions): Promise<OneShot> {
  const scope = new Scope();
  try {
    const clock = systemClock;
    const ids = new SystemIds(clock);
    const nobody = () => undefined;
    const { home, environment } = options;
    const { settings, models, problems } = scope.own(
      await openModelAccess({ home, environment, clock, secret: nobody, changed: nobody }),
    );
    const sessionOptions: SessionOptions = {
      clock,
      owner: 'a terminal',
      durability: settings.value.durability,
      fault: options.fault,
    };
    const sandbox = scope.own(await Sandbox.open(settings.value.sandbox, scrubEnvironment(environment, [])));
    const folder = realpathSync(options.folder);
    const notes = [
      ...problems,
      ...(sandbox.state.problem === null ? [] : [sandbox.state.problem]),
      ...(options.model === null ? [] : await doubts(models, options.model)),
    ];
    const session = await openSession(options, sessionOptions, models, {
      folder,
      mode: options.mode ?? 'ask',
      ids,
    });
    const sessionId = session.conversation.session?.sessionId ?? '';
    const subAgents = scope.own(
      new RunSubAgents({
        home: homePaths(home),
        ids,
        sessionOptions,
        model: () => models.subAgentModel,
        shared: {
          clock,
          tools: options.withTools ? builtInTools(new FileQueue()) : [],
          sandbox,
          processEnvironment: scrubEnvironment(options.environment, models.keyNames),
          forbidden: [options.home],
          defaultModel: () => models.default,
          resolveModel: (name) => models.resolve(name),
          compactAt: () => settings.value.compactAt,
          rules: () => [],
          makeRule: () => Promise.resolve(),
          unattended: options.unattended,
          noAnswer: options.noAnswer,
          changed: () => undefined,
          fault: options.fault,
        },
      }),
    );
    const agent = subAgents.root(session, new SessionProcesses(session.place.processes, sessionId));
    return { agent, subAgents, notes, newCommandId: () => ids.uuid7() as CommandId, close: () => scope.close() };
  } catch (error) {
    await scope.close();
    throw error;
  }
}

interface Wanted {
  folder: string;
  mode: Mode;
  ids: SystemIds;
}

/** A model that nobody knows may be new; one that is written wrong should be said to be. */
async function doubts(models: Models, name: string): Promise<string[]> {
  if (name === offlineName) return [];
  const { known, nearest } = await models.meant(name);
  if (known) return [];
  const meant = nearest === null ? '' : ` did you mean ${nearest}?`;
  return [`No known model of this name${meant === '' ? '.' : `;${meant}`} Trying it all the same.`];
}

/** Refuses an effort that is named for a model that does not take it (PR7). */
async function requireEffort(models: Models, model: string, effort: Effort | null): Promise<void> {
  if (effort === null) return;
  const takes = await models.effortsOf(model);
  if (takes === null || takes.includes(effort)) return;
  const instead = takes.length === 0 ? 'It takes none.' : `It takes ${effortWords(takes)}.`;
  throw new RequestError('invalid_params', `${model} does not take the effort “${effort}”. ${instead}`);
}

async function openSession(
  options: OneShotOptions,
  sessionOptions: SessionOptions,
  models: Models,
  wanted: Wanted,
): Promise<Session> {
  const home = homePaths(options.home);
  const sessionId = newId('ses', wanted.ids);
  const place = options.sessionFile === null ? placeInHome(home, sessionId) : placeOfFile(options.sessionFile);
  if (options.sessionFile === null) await makeAgentFolders(home);
  else await makeOwnerOnlyFolder(dirname(place.log));
  if ((await stat(place.log).catch(() => null)) !== null)
    return continueSession(options, place, sessionOptions, models);
  const model = await models.choice(options.model, null);
  const { effort } = options;
  await requireEffort(models, model, effort);
  const session = await Session.create(place, sessionOptions);
  const project = await projectOf(options.home, wanted);
  const events: Draft[] = [
    { type: 'session.created', logVersion: LOG_VERSION, sessionId, project, folder: wanted.folder },
    { type: 'session.configured', model, mode: wanted.mode, ...(effort === null ? {} : { effort }) },
  ];
  await session.append(events);
  return session;
}

/** Goes on with a session that is there, in its own folder, with what the person names now. */
async function continueSession(
  options: OneShotOptions,
  place: Session['place'],
  sessionOptions: SessionOptions,
  models: Models,
): Promise<Session> {
  const session = await Session.open(place, sessionOptions);
  const mark = session.conversation.session?.sessionId;
  await recover(session, mark === undefined ? 0 : await endOrphans(place.processes, mark));
  const { settings } = session.conversation;
  try {
    const model = await models.choice(options.model, settings.model);
    await requireEffort(models, model, options.effort);
    const changed = {
      ...(model !== settings.model && { model }),
      ...(options.effort !== null && options.effort !== settings.effort && { effort: options.effort }),
      ...(options.mode !== null && options.mode !== settings.mode && { mode: options.mode }),
    };
    if (Object.keys(changed).length > 0) await session.append([{ type: 'session.configured', ...changed }]);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** The home's own project of this folder, where it has one: only read, since the daemon may own the file. */
async function projectOf(home: string, { folder, ids }: Wanted): Promise<Project> {
  const made: Project = {
    projectId: newId('prj', ids),
    name: basename(folder) || folder,
    path: folder,
    addedAt: systemClock.now(),
  };
  try {
    const kept = JSON.parse(await readFile(join(home, 'projects.json'), 'utf8')) as { projects?: Project[] };
    const known = kept.projects?.find((one) => one.path === folder);
    return known === undefined
      ? made
      : { projectId: known.projectId, name: known.name, path: known.path, addedAt: known.addedAt };
  } catch {
    return made;
  }
}
