/** Handlers of the session.*, approval.* and question.* commands: from the parameters of a message to the face of the runtime. */
import type { CommandName, Params, Result } from '#protocol/command.ts';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark } from '#protocol/event.ts';
import type { CommandId, ProjectId, SessionId } from '#protocol/values/ids.ts';
import type { Effort } from '#protocol/values/model.ts';
import type { Project } from '#protocol/values/project.ts';
import { digestOf } from '../base/digest.ts';
import { effortWords } from '../llm/catalogue/efforts.ts';
import type { Catalog } from '../session/catalog.ts';
import type { Agent } from './agent.ts';
import type { Agents } from './agents.ts';

type Handled =
  | Exclude<Extract<CommandName, `session.${string}`>, 'session.subscribe' | 'session.unsubscribe' | 'session.page'>
  | 'approval.answer'
  | 'question.answer';
export type SessionHandlers = {
  readonly [Name in Handled]: (params: Params<Name>, caller: { readonly name: string }) => Promise<Result<Name>>;
};

export interface SessionCommandPorts {
  agents: Agents;
  catalog: Catalog;
  /** The project, shown or not. Throws `not_found`. */
  readonly project: (projectId: ProjectId) => Project;
  /** Projects that were removed: their sessions are not listed. */
  readonly hiddenProjects: () => readonly ProjectId[];
  /** The model that a new session takes: the one that is named for it, else what environment, settings and connected providers say. */
  readonly chooseModel: (named: string | null) => Promise<string>;
  /** The efforts that a model takes; null: unknown, so any may be tried. */
  readonly effortsOf: (model: string) => Promise<readonly Effort[] | null>;
}

/** Rows of a page of the list where the client names no number. */
const defaultPage = 100;

export function sessionHandlers({
  agents,
  catalog,
  project,
  hiddenProjects,
  chooseModel,
  effortsOf,
}: SessionCommandPorts): SessionHandlers {
  /** Runs a command on a session's agent, marked with its id and the digest of its parameters. */
  const on = async (
    params: { commandId: CommandId; sessionId: SessionId },
    act: (agent: Agent, mark: CommandMark) => Promise<number>,
  ) => {
    const agent = await agents.agent(params.sessionId);
    return { seq: await act(agent, { id: params.commandId, digest: digestOf(params) }) };
  };
  /** Refuses an effort that is named for a model that does not take it (PR7). */
  const requireEffort = async (model: string, effort: Effort | null | undefined) => {
    if (effort == null) return;
    const takes = await effortsOf(model);
    if (takes === null || takes.includes(effort)) return;
    const instead = takes.length === 0 ? 'It takes none.' : `It takes ${effortWords(takes)}.`;
    throw new RequestError('invalid_params', `${model} does not take the effort “${effort}”. ${instead}`);
  };
  return {
    'session.list': async ({ projectId, limit, after }) => {
      await agents.lookAround();
      return catalog.list({ projectId, hidden: hiddenProjects(), limit: limit ?? defaultPage, after });
    },
    'session.create': async (params) => {
      const { sessionId, model, mode, input, commandId } = params;
      const chosen = project(params.projectId);
      const taken = await chooseModel(model ?? null);
      await requireEffort(taken, params.effort);
      const request = {
        sessionId,
        project: chosen,
        folder: chosen.path,
        model: taken,
        effort: params.effort ?? null,
        mode: mode ?? ('ask' as const),
        input: input ?? null,
      };
      return { seq: await agents.create(request, { id: commandId, digest: digestOf(params) }) };
    },
    'session.fork': async (params) => {
      const mark = { id: params.commandId, digest: digestOf(params) };
      return { seq: await agents.fork(params.sessionId, params.upTo, params.newSessionId, mark) };
    },
    'session.submit': (params) => {
      const origin = 'person' as const;
      return on(params, (agent, mark) => agent.submit({ target: params.target, parts: params.parts, origin }, mark));
    },
    'session.edit-input': (params) => on(params, (agent, mark) => agent.editInput(params.inputId, params.parts, mark)),
    'session.move-input': (params) => on(params, (agent, mark) => agent.moveInput(params.inputId, params, mark)),
    'session.withdraw-input': (params) => on(params, (agent, mark) => agent.withdrawInput(params.inputId, mark)),
    'session.pause': (params) => on(params, (agent, mark) => agent.pause(mark)),
    'session.resume': (params) => on(params, (agent, mark) => agent.resume(mark)),
    'session.abort': (params) => on(params, (agent, mark) => agent.abort(mark)),
    'session.compact': (params) => on(params, (agent, mark) => agent.compact(mark)),
    'session.context': ({ sessionId }) => agents.contextReport(sessionId),
    'session.configure': (params) =>
      on(params, async (agent, mark) => {
        const { settings, commands } = agent.conversation;
        const named = params.model === undefined ? {} : { model: await chooseModel(params.model) };
        // A repeat gets its first answer, whatever has changed since.
        if (!commands.some(({ id }) => id === mark.id)) {
          await requireEffort(named.model ?? settings.model ?? (await chooseModel(null)), params.effort);
        }
        return agent.configure({ ...params, ...named }, mark);
      }),
    'session.rename': (params) => on(params, (agent, mark) => agent.rename(params.title.trim(), mark)),
    'question.answer': (params, caller) => {
      const { questionId, option, text } = params;
      return on(params, (agent, mark) => agent.reply({ questionId, option, text, by: caller.name }, mark));
    },
    'approval.answer': (params, caller) => {
      if (params.decision === 'deny' && params.scope !== 'once') {
        throw new RequestError('invalid_params', 'A denial is for this call alone; use scope "once".');
      }
      const { approvalId, decision, scope, note } = params;
      return on(params, (agent, mark) =>
        agent.answer({ approvalId, decision, scope, note, arguments: params.arguments, by: caller.name }, mark),
      );
    },
  };
}
