/**
 * One-time codes by which a browser becomes a device. One pairing has two forms: 128 bits for a link, and eight characters to type where a
 * link cannot be carried. Either works once, for ten minutes; five wrong tries in all, whatever they were aimed at, void every pairing that
 * was open meanwhile. Codes live in memory only: a restart voids them.
 */
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { maxWrongCodes, pairingMs, typedCodeLength } from '#protocol/limits.ts';
import { z } from '#protocol/schema.ts';
import type { Clock } from '../base/clock.ts';
import { maxPairings } from './limits.ts';

const deviceName = z.string().check(z.minLength(1), z.maxLength(100));
const code = z.string().check(z.minLength(1), z.maxLength(64));
/** Body of POST /pair: the code of a link, or the typed one. */
export const pairBody = z.union([z.object({ code, name: deviceName }), z.object({ typed: code, name: deviceName })]);

/** Nothing that looks like something else: no 0 O, 1 I L, 2 Z, 5 S, 8 B, U V. */
export const typedAlphabet = '34679ACDEFGHJKMNPQRTWXY';

export interface NewPairing {
  readonly code: string;
  /** Grouped for the eye; dashes, spaces and case do not count when it is typed. */
  readonly typed: string;
  readonly expiresAt: number;
}

interface OpenPairing {
  readonly codeHash: Buffer;
  readonly typedHash: Buffer;
  readonly expiresAt: number;
  wrongTries: number;
}

export class Pairings {
  readonly #clock: Clock;
  #open: OpenPairing[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  create(): NewPairing {
    const link = randomBytes(16).toString('base64url');
    const typed = Array.from({ length: typedCodeLength }, () =>
      typedAlphabet.charAt(randomInt(typedAlphabet.length)),
    ).join('');
    const expiresAt = this.#clock.now() + pairingMs;
    this.#open.push({ codeHash: hashOf(link), typedHash: hashOf(typed), expiresAt, wrongTries: 0 });
    this.#open = this.#open.slice(-maxPairings);
    return {
      code: link,
      typed: `${typed.slice(0, typedCodeLength / 2)}-${typed.slice(typedCodeLength / 2)}`,
      expiresAt,
    };
  }

  /** True once for a code that is open; a wrong one is counted against all that are. */
  redeem(given: { code: string } | { typed: string }): boolean {
    const now = this.#clock.now();
    this.#open = this.#open.filter((one) => now < one.expiresAt);
    const hash = hashOf('code' in given ? given.code : given.typed.replaceAll(/[\s-]/g, '').toUpperCase());
    const matches = this.#open.filter((one) => timingSafeEqual('code' in given ? one.codeHash : one.typedHash, hash));
    if (matches.length === 0) {
      for (const one of this.#open) one.wrongTries += 1;
      this.#open = this.#open.filter((one) => one.wrongTries < maxWrongCodes);
      return false;
    }
    this.#open = this.#open.filter((one) => !matches.includes(one));
    return true;
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
