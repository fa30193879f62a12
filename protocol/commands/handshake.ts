/**
 * The first two messages of a socket, before any other command. The client sends a nonce; the daemon answers with its own and signs both,
 * so the client knows the machine it pinned; the client then proves its device token without sending it.
 */
import { z } from '../schema.ts';
import { deviceId, machineId } from '../values/ids.ts';

const nonce = z.string().check(z.regex(/^[A-Za-z0-9_-]{22,64}$/, { error: 'expected base64url of 16 bytes or more' }));

export const handshakeCommands = {
  hello: {
    doc: 'First message: versions and nonces.',
    params: z.object({ nonce, protocol: z.object({ major: z.int(), minor: z.int() }) }),
    result: z.object({
      machineId,
      bootId: z.string(),
      nonce,
      /** Ed25519, base64url, over the transcript (see `helloTranscript`). */
      signature: z.string(),
      publicKey: z.string(),
      protocol: z.object({ major: z.int(), minor: z.int() }),
      version: z.string(),
      name: z.string(),
    }),
  },
  authenticate: {
    doc: 'Second message: the device, and HMAC-SHA-256 of the transcript under SHA-256 of its token, base64url.',
    params: z.object({ deviceId, proof: z.string() }),
    result: z.object({
      /** For HTTP from this page, kept in memory only; ends with the socket. */
      bearer: z.string(),
      features: z.array(z.string()),
    }),
  },
};

/** What both sides sign and prove: every word of the hello, so that none can be exchanged. Fields cannot hold a line break. */
export function helloTranscript(hello: {
  machineId: string;
  bootId: string;
  clientNonce: string;
  daemonNonce: string;
}): string {
  return ['alcove-hello-1', hello.machineId, hello.bootId, hello.clientNonce, hello.daemonNonce].join('\n');
}
