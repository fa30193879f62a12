/** Asks the daemon that runs on this home, by POST /rpc with the token that it left for its own user. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { CommandName, Params, Result } from '#protocol/command.ts';
import { RequestError, type ErrorCode } from '#protocol/errors.ts';
import { messageOf } from '../base/errors.ts';
import { readDaemonFile } from '../daemon.ts';

export class NotRunningError extends Error {
  override readonly name = 'NotRunningError';
}

export class Running {
  readonly port: number;
  readonly #token: string;

  private constructor(port: number, token: string) {
    this.port = port;
    this.#token = token;
  }

  /** Rejects with NotRunningError where nobody answers as this home's daemon. */
  static async find(home: string): Promise<Running> {
    const file = await readDaemonFile(home);
    if (file === null) throw new NotRunningError('Alcove is not running. Start it with: alcove');
    const running = new Running(file.port, file.token);
    await running.call('machine.status', {});
    return running;
  }

  async call<Name extends CommandName>(method: Name, params: Params<Name>): Promise<Result<Name>> {
    let response: { status: number; body: string };
    try {
      response = await this.#post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    } catch (error) {
      throw new NotRunningError(
        `Alcove does not answer on port ${this.port} (${messageOf(error)}). Start it with: alcove`,
        { cause: error },
      );
    }
    if (response.status === 401)
      throw new NotRunningError(`Another program answers on port ${this.port}. Start Alcove with: alcove`);
    const answer = JSON.parse(response.body) as {
      result?: Result<Name>;
      error?: { message: string; data: { code: ErrorCode } };
    };
    if (answer.error !== undefined) throw new RequestError(answer.error.data.code, answer.error.message);
    if (answer.result === undefined) throw new Error(`${method} failed (${response.status})`);
    return answer.result;
  }

  /** By Node's http, which a daemon has loaded already: the first use of fetch takes as long as much of its start. */
  async #post(body: string): Promise<{ status: number; body: string }> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` };
    const asked = request({ host: '127.0.0.1', port: this.port, path: '/rpc', method: 'POST', headers });
    asked.end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, body: await text(response) };
  }
}
