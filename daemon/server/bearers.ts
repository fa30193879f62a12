/**
 * What may stand in an Authorization header: the daemon's own per-process token (for the command line and scripts, read from an owner-only
 * file), and one bearer for each authenticated socket, which ends with it. All live in memory only, and none outlives the process. A
 * device's token is none of them: it crosses the wire once, at pairing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { commandLine, type Caller } from './caller.ts';

export interface Access {
  readonly caller: Caller;
  /** Aborted when the bearer ends: what streams by it ends too. */
  readonly signal: AbortSignal;
}

export interface IssuedBearer {
  readonly bearer: string;
  readonly end: () => void;
}

export class Bearers {
  /** By hash: how long a look-up takes tells nothing of how much of a guess was right. */
  readonly #access = new Map<string, Access>();
  readonly #process: IssuedBearer;

  constructor() {
    this.#process = this.issue(commandLine);
  }

  get processToken(): string {
    return this.#process.bearer;
  }

  issue(caller: Caller): IssuedBearer {
    const bearer = randomBytes(32).toString('base64url');
    const controller = new AbortController();
    const key = hashOf(bearer);
    this.#access.set(key, { caller, signal: controller.signal });
    const end = () => {
      this.#access.delete(key);
      controller.abort();
    };
    return { bearer, end };
  }

  /** Reads the header's value; null where it is missing, of another form, or names no bearer that lives. */
  authorize(header: string | undefined): Access | null {
    const bearer = /^Bearer ([A-Za-z0-9_-]{43})$/i.exec(header ?? '')?.[1];
    return bearer === undefined ? null : (this.#access.get(hashOf(bearer)) ?? null);
  }

  close(): void {
    this.#process.end();
  }
}

function hashOf(bearer: string): string {
  return createHash('sha256').update(bearer).digest('hex');
}
