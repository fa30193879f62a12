/**
 * Where ids come from. UUIDv7: its first 48 bits are the time, so ids of one maker sort by age. Within one maker ids only grow, also within
 * a millisecond and when the machine's clock is set back. Ids of things inside a session are counted by the fold and are not made here.
 */
import { randomBytes } from 'node:crypto';
import type { DeviceId, MachineId, ProjectId, RuleId, SessionId } from '#protocol/values/ids.ts';
import type { Clock } from './clock.ts';

export interface Ids {
  /** A new UUIDv7 in lower case, greater than every one before it. */
  uuid7(): string;
}

/** The prefix of each kind of id that is made here. */
export interface IdOfPrefix {
  ses: SessionId;
  prj: ProjectId;
  dev: DeviceId;
  mac: MachineId;
  rul: RuleId;
}

export function newId<Prefix extends keyof IdOfPrefix>(prefix: Prefix, ids: Ids): IdOfPrefix[Prefix] {
  return `${prefix}_${ids.uuid7()}` as IdOfPrefix[Prefix];
}

const largestCounter = 0xfff;

export class SystemIds implements Ids {
  readonly #clock: Clock;
  #time = 0;
  #counter = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  uuid7(): string {
    const random = randomBytes(10);
    const now = this.#clock.now();
    if (now > this.#time) {
      this.#time = now;
      // Half of the counter's room stays free for ids of the same millisecond.
      this.#counter = random.readUInt16BE(8) & (largestCounter >> 1);
    } else if (this.#counter < largestCounter) {
      this.#counter += 1;
    } else {
      this.#time += 1;
      this.#counter = 0;
    }
    const time = this.#time.toString(16).padStart(12, '0');
    const counter = this.#counter.toString(16).padStart(3, '0');
    const variant = ((random.readUInt8(0) & 0x3f) | 0x80).toString(16);
    const rest = random.toString('hex', 1, 8);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${variant}${rest.slice(0, 2)}-${rest.slice(2)}`;
  }
}
