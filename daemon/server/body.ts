/**
 * Reads a request's body up to a limit, counted while it comes: one byte more is refused, whatever the length header said. What is left of
 * a refused body is read and thrown away for a moment, so that the client gets to read the refusal; then the connection is cut.
 */
import type { IncomingMessage } from 'node:http';
import { RequestError } from '#protocol/errors.ts';
import { discardMs } from './limits.ts';

/** The client went away before its body had come: there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export function readBody(request: IncomingMessage, limit: { name: string; bytes: number }): Promise<Buffer> {
  const tooLarge = () =>
    new RequestError(
      'too_large',
      `The body is larger than ${limit.bytes} bytes (${limit.name}). Send it in smaller pieces.`,
    );
  if (Number(request.headers['content-length'] ?? 0) > limit.bytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limit.bytes) return void chunks.push(chunk);
      chunks.length = 0;
      reject(tooLarge());
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('close', () => reject(new ClientGone('The client went away before its request was whole')));
    request.on('error', () => undefined); // Its `close` follows.
  });
}

export async function readJsonBody(request: IncomingMessage, limit: { name: string; bytes: number }): Promise<unknown> {
  const body = await readBody(request, limit);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new RequestError('invalid_params', 'The body is not JSON.', { cause: error });
  }
}

/** For a request that is answered before its body was read to the end. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  const cut = setTimeout(() => request.socket.destroy(), discardMs);
  request.once('end', () => clearTimeout(cut));
  request.once('close', () => clearTimeout(cut));
}
