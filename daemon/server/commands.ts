/**
 * From a request to its answer: finds the command, reads its parameters, runs its handler, words what went wrong. A command without a
 * handler does not compile. `session.subscribe` and `session.unsubscribe` belong to a socket and are handled there. Commands outside a
 * session that carry a `commandId` are remembered here; those on a session by its log.
 */
import { commands, type CommandName, type Params, type Result } from '#protocol/command.ts';
import { rpcNumber, type Response } from '#protocol/down.ts';
import { RequestError } from '#protocol/errors.ts';
import { parse, z, type Schema } from '#protocol/schema.ts';
import { request as requestSchema, type Request } from '#protocol/up.ts';
import type { CommandId } from '#protocol/values/ids.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { DatabaseError } from '../base/database.ts';
import { systemCode } from '../base/errors.ts';
import type { Caller } from './caller.ts';
import type { CommandResults } from './command-results.ts';

export type SocketCommand = 'session.subscribe' | 'session.unsubscribe';
export type HandledCommand = Exclude<CommandName, SocketCommand>;
export type Handlers = {
  readonly [Name in HandledCommand]: (params: Params<Name>, caller: Caller) => Promise<Result<Name>>;
};

export class Dispatcher {
  readonly #handlers: Handlers;
  readonly #results: CommandResults;
  readonly #diagnostics: Diagnostics;

  constructor(handlers: Handlers, results: CommandResults, diagnostics: Diagnostics) {
    this.#handlers = handlers;
    this.#results = results;
    this.#diagnostics = diagnostics;
  }

  /** Runs one command. Throws a RequestError for what the caller can do something about; anything else is a fault of ours. */
  async dispatch(request: Request, caller: Caller): Promise<unknown> {
    const name = commandName(request.method);
    if (isSocketCommand(name))
      throw new RequestError(
        'unavailable',
        `${name} needs a WebSocket (GET /ws). Over HTTP, events are streamed by GET /sessions/{id}/events?after={seq}.`,
      );
    const params = readParams(name, request);
    const run = () => this.#run(name, params, caller);
    return isRemembered(params) ? this.#results.run(params, run) : run();
  }

  /** Runs one request as it came and words its answer; never throws. */
  async answer(message: unknown, caller: Caller): Promise<Response> {
    const id = idOf(message);
    try {
      const request = parse(requestSchema, message, 'The request');
      return { jsonrpc: '2.0', id: request.id, result: await this.dispatch(request, caller) };
    } catch (error) {
      return this.refusal(id, error);
    }
  }

  /** The answer to a request that failed. What is no RequestError is written to the daemon's own log and told as such. */
  refusal(id: string | number | null, error: unknown): Response {
    const told = presentable(error, this.#diagnostics);
    return {
      jsonrpc: '2.0',
      id,
      error: { code: rpcNumber(told.code), message: told.message, data: { code: told.code } },
    };
  }

  #run<Name extends HandledCommand>(name: Name, params: Params<Name>, caller: Caller): Promise<Result<Name>> {
    const handle: (params: Params<Name>, caller: Caller) => Promise<Result<Name>> = this.#handlers[name];
    return handle(params, caller);
  }
}

const fullDisk = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

/** What may be told of an error: a RequestError as it is; anything else without its words, which go to the daemon's own log. */
export function presentable(error: unknown, diagnostics: Diagnostics): RequestError {
  if (error instanceof RequestError) return error;
  diagnostics.error('A request failed', { error });
  if (fullDisk.has(systemCode(error) ?? '') || (error instanceof DatabaseError && error.code === 'full'))
    return new RequestError('storage_failed', 'The disk refused. Nothing was changed; make space and try again.');
  return new RequestError('internal', 'Something went wrong in the daemon. Its own log (diagnostics.jsonl) says what.');
}

/** The parameters of a request, read by the command's schema. */
export function readParams<Name extends CommandName>(name: Name, request: Request): Params<Name> {
  const schema = commands[name].params as unknown as Schema<Params<Name>>;
  return parse(schema, request.params ?? {}, `The parameters of ${name}`);
}

export function commandName(method: string): CommandName {
  if (Object.hasOwn(commands, method)) return method as CommandName;
  throw new RequestError(
    'unknown_method',
    `This daemon knows no command "${method}". Page and daemon may be of different versions.`,
  );
}

export function isSocketCommand(name: CommandName): name is SocketCommand {
  return name === 'session.subscribe' || name === 'session.unsubscribe';
}

/** The id to answer to, where a message that may be anything has one. */
export function idOf(message: unknown): string | number | null {
  const read = z.safeParse(z.pick(requestSchema, { id: true }), message);
  return read.success ? read.data.id : null;
}

function isRemembered(params: object): params is { commandId: CommandId } {
  return 'commandId' in params && !('sessionId' in params);
}
