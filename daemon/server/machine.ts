/**
 * Who this machine is: an id and an Ed25519 key pair, made once and kept owner-only under the home. A browser pins the key at pairing and
 * has it proven in each handshake, so another daemon behind the same port is told apart. Losing the file means pairing anew.
 */
import { createHash, createPrivateKey, createPublicKey, randomBytes, sign, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { z } from '#protocol/schema.ts';
import { machineId as machineIdSchema, type MachineId } from '#protocol/values/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { newId, type Ids } from '../base/ids.ts';
import { openStore } from './kept-file.ts';

/** The secret key is kept as the 32 bytes it grows from. */
const identity = z.object({
  machineId: machineIdSchema,
  seed: z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/)),
});
type Identity = z.infer<typeof identity>;

export class Machine {
  readonly machineId: MachineId;
  /** base64url. */
  readonly publicKey: string;
  /** What a pairing link carries of the key. */
  readonly fingerprint: string;
  readonly #secretKey: KeyObject;

  constructor(from: Identity) {
    this.#secretKey = secretKeyOf(Buffer.from(from.seed, 'base64url'));
    this.machineId = from.machineId;
    this.publicKey = createPublicKey(this.#secretKey).export({ format: 'jwk' }).x ?? '';
    this.fingerprint = fingerprintOf(Buffer.from(this.publicKey, 'base64url'));
  }

  static async open(home: string, needs: { clock: Clock; ids: Ids; diagnostics: Diagnostics }): Promise<Machine> {
    const store = await openStore<Identity | null>(join(home, 'machine.json'), z.nullable(identity), null, needs);
    const made = { machineId: newId('mac', needs.ids), seed: randomBytes(32).toString('base64url') };
    return new Machine((await store.update((kept) => kept ?? made)) ?? made);
  }

  /** Ed25519 over the UTF-8 bytes, base64url. */
  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#secretKey).toString('base64url');
  }
}

/** What PKCS #8 puts before the seed of an Ed25519 key (RFC 8410, section 7). */
const seedPrefix = Buffer.from('302e020100300506032b657004220420', 'hex');

function secretKeyOf(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([seedPrefix, seed]), format: 'der', type: 'pkcs8' });
}

function fingerprintOf(publicKey: Uint8Array): string {
  return createHash('sha256').update(publicKey).digest().subarray(0, 16).toString('base64url');
}
