/**
 * The other composition root: one run of an agent without the daemon, for `alcove run`. The session is a file that the person names, or a new one
 * in the home, where the daemon shows it, read-only, while it runs.
 */
import { readFile, rm, stat } from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark, Draft, SessionEvent } from '#protocol/event.ts';
import type { CommandId } from '#protocol/values/ids.ts';
import type { Effort, Mode } from '#protocol/values/model.ts';
import type { Project } from '#protocol/values/project.ts';
import { LOG_VERSION } from '#protocol/version.ts';
import type { Agent } from './agent/agent.ts';
import { makeAgentFolders } from './agent/agent-folders.ts';
import { promptParts, type PromptFacts, type PromptPart } from './agent/context/prompt.ts';
import { RunSubAgents } from './agent/run-sub-agents.ts';
import { endOrphans, SessionProcesses } from './agent/process-ledger.ts';
import { systemClock } from './base/clock.ts';
import { homePaths, makeOwnerOnlyFolder } from './base/files.ts';
import { newId, SystemIds } from './base/ids.ts';
import { Scope } from './base/scope.ts';
import { effortWords } from './llm/catalogue/efforts.ts';
import { offlineName } from './llm/providers/provider-settings.ts';
import type { ResolveModel } from './llm/resolved-model.ts';
import { openModelAccess } from './model-access.ts';
import { placeNames, PlainWords } from './recording/plain-words.ts';
import { Recorder } from './recording/recorder.ts';
import { RecordingFile } from './recording/recording-file.ts';
import { placeInHome, placeOfFile } from './session/place.ts';
import { recover } from './session/recovery.ts';
import { Session, type SessionOptions } from './session/session.ts';
import { FileQueue } from './tools/file-queue.ts';
import { scrubEnvironment } from './tools/process-environment.ts';
import { builtInTools } from './tools/registry.ts';
import { Sandbox } from './tools/sandbox/sandbox.ts';
import type { Models } from './workspace/models/models.ts';
import { Rules } from './workspace/rules/rules.ts';

export interface OneShotOptions {
  home: string;
  userHome: string;
  version: string;
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
  /** A new file that the run is recorded in; null: it is not recorded. Only a session that begins with the run can be. */
  record: string | null;
  /** A plan is accepted without asking; kept in a recording. */
  acceptsPlan: boolean;
  /** In the place of the first part of Alcove's own system prompt; null: that one. */
  prompt: string | null;
  /** `undefined`: as the settings say; null: never. */
  compactAt: number | null | undefined;
  /** Told what a person should know before it begins, or why it may not: a sentence each. */
  readonly note: (note: string) => void;
  readonly fault: (error: unknown) => void;
}

export interface OneShot {
  readonly agent: Agent;
  /** It, and those that it started: closed with the run. */
  readonly subAgents: RunSubAgents;
  newCommandId(): CommandId;
  /** Hands the run's own agent an input, as its next turn. */
  submit(text: string, command: CommandMark): Promise<number>;
  /** The run came to its end: so does its recording. */
  readonly finish: () => void;
  /** Why the recording is not whole; null where it is, or there is none. */
  readonly recordingProblem: () => string | null;
  /** Ends the run in order. */
  close(): Promise<void>;
}

export async function openOneShot(options: OneShotOptions): Promise<OneShot> {
  const scope = new Scope();
  let begun: string | null = null;
  try {
    const clock = systemClock;
    const ids = new SystemIds(clock);
    const { home, environment } = options;
    const folder = realpathSync(options.folder);
    const recording = options.record === null ? null : openRecording(options, options.record, folder);
    begun = options.record;
    if (recording !== null) scope.own(recording.recorder);
    const { settings, models, problems } = scope.own(
      await openModelAccess({
        home,
        environment,
        clock,
        secret: (key) => recording?.words.keepSecret(key),
        changed: () => undefined,
      }),
    );
    const sessionOptions: SessionOptions = {
      clock,
      owner: 'a terminal',
      durability: settings.value.durability,
      ...(recording === null ? {} : { published: (session, events) => hear(recording.recorder, session, events) }),
      fault: options.fault,
    };
    const standing = await Rules.open(join(home, 'rules.json'), clock, ids);
    scope.own(standing.rules);
    const sandbox = scope.own(await Sandbox.open(settings.value.sandbox, scrubEnvironment(environment, [])));
    const notes = [
      ...problems,
      ...(standing.corrupt === null
        ? []
        : [
            `The rules could not be understood (${standing.corrupt.reason}); they are kept as ${standing.corrupt.keptAt}.`,
          ]),
      ...(sandbox.state.problem === null ? [] : [sandbox.state.problem]),
      ...(options.model === null ? [] : await doubts(models, options.model)),
    ];
    for (const note of notes) options.note(note);
    const session = await openSession(options, sessionOptions, models, {
      folder,
      mode: options.mode ?? 'ask',
      ids,
    });
    const sessionId = session.conversation.session?.sessionId ?? '';
    const projectId = session.conversation.session?.project.projectId;
    const rules = projectId === undefined ? [] : standing.rules.list(projectId);
    const tools = options.withTools ? builtInTools(new FileQueue()) : [];
    const recorder = recording?.recorder ?? null;
    const compactAt = options.compactAt === undefined ? settings.value.compactAt : options.compactAt;
    recorder?.begin({
      alcove: options.version,
      project: session.conversation.session?.project.name ?? '',
      model: session.conversation.settings.model ?? models.default,
      effort: session.conversation.settings.effort,
      mode: session.conversation.settings.mode,
      subAgentModel: models.subAgentModel,
      compactAt,
      cap: settings.value.cap,
      attended: options.unattended === null,
      acceptsPlan: options.acceptsPlan,
      rules: rules.map(({ tool, pattern, decision }) => ({
        tool,
        pattern,
        ...(decision === undefined ? {} : { decision }),
      })),
    });
    const resolveModel: ResolveModel = (name) => models.resolve(name);
    const subAgents = scope.own(
      new RunSubAgents({
        home: homePaths(home),
        ids,
        sessionOptions,
        model: () => models.subAgentModel,
        shared: {
          clock,
          tools: recorder?.tools(tools) ?? tools,
          sandbox,
          processEnvironment: scrubEnvironment(options.environment, models.keyNames),
          forbidden: [options.home],
          defaultModel: () => models.default,
          resolveModel: recorder?.models(resolveModel) ?? resolveModel,
          ...(options.prompt === null
            ? {}
            : { prompt: (facts: PromptFacts) => ownPrompt(options.prompt ?? '', facts) }),
          compactAt: () => compactAt,
          cap: () => settings.value.cap,
          // A check is no call of a tool, so a replay would not know what it said.
          check: (folder) => (recorder === null ? (settings.value.checks.get(folder) ?? null) : null),
          rules: () => rules,
          makeRule: () => Promise.resolve(),
          unattended: options.unattended,
          noAnswer: options.noAnswer,
          changed: () => undefined,
          fault: options.fault,
        },
      }),
    );
    const agent = subAgents.root(session, new SessionProcesses(session.place.processes, sessionId));
    return {
      agent,
      subAgents,
      newCommandId: () => ids.uuid7() as CommandId,
      submit: (text, command) => {
        const parts = [{ type: 'text' as const, text }];
        recorder?.submitted(parts);
        return agent.submit({ target: 'next-turn', parts, origin: 'command-line' }, command);
      },
      finish: () => recorder?.finish(),
      recordingProblem: () => recorder?.problem ?? null,
      close: () => scope.close(),
    };
  } catch (error) {
    await scope.close();
    // What never began is no recording, and would stand in the way of the next try.
    if (begun !== null) await rm(begun, { force: true });
    throw error;
  }
}

interface OneRecording {
  readonly recorder: Recorder;
  readonly words: PlainWords;
}

/** Before anything else is made: a recording that cannot be written refuses the run. */
function openRecording(options: OneShotOptions, file: string, folder: string): OneRecording {
  const words = new PlainWords(
    [
      { path: folder, name: placeNames.project },
      { path: options.folder, name: placeNames.project },
      { path: options.home, name: placeNames.alcove },
      { path: options.userHome, name: placeNames.home },
    ].filter(({ path }, place, all) => all.findIndex((one) => one.path === path) === place),
  );
  // A command can print any of them; which ones are keys is told by their names alone.
  for (const [name, value] of Object.entries(options.environment))
    if (secretName.test(name) && value !== undefined && value.trim().length >= shortestEnvironmentSecret)
      words.keepSecret(value.trim());
  return { recorder: new Recorder(RecordingFile.open(file), words), words };
}

const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
/** A shorter value is a switch or a name. */
const shortestEnvironmentSecret = 8;

function hear(recorder: Recorder, session: Session, events: readonly SessionEvent[]): void {
  const { sessionId } = session.conversation.session ?? {};
  if (sessionId !== undefined) recorder.heard(sessionId, events);
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

/** Refuses a model that nothing can be asked of, before there is a session of it, or a failed turn in one. */
async function requireModel(models: Models, model: string): Promise<void> {
  const found = await models.resolve(model);
  if ('failure' in found) throw new RequestError('invalid_params', found.failure.message);
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
  await requireModel(models, model);
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
    await requireModel(models, model);
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

/** Alcove's, with the first part exchanged: folder, instructions and mode stay true whoever writes the rest. */
async function ownPrompt(text: string, facts: PromptFacts): Promise<PromptPart[]> {
  const parts = await promptParts(facts);
  return parts.map((part) => (part.name === 'base' ? { ...part, text } : part));
}
