/**
 * The state of the one socket to the daemon, with the data that each state has, and the named transitions between states. Pure: the client
 * carries them out. A transition that does not apply answers the state it was given, so a late event of an old socket changes nothing.
 *
 *   connecting -> authenticating -> open
 *     ^    \            |            |
 *     |     +---> retrying or offline      refused and closed are left only by a person: retry, or pairing
 *     +---------------- |
 */
import type { MachineId } from '#protocol/values/ids.ts';

export interface Machine {
  readonly machineId: MachineId;
  readonly name: string;
  readonly version: string;
}

/**
 * unpaired: this browser holds no token for the machine. revoked: it held one that is void. wrong-machine: what answers cannot prove to be
 * the machine it names. version: page and daemon differ in the major version.
 */
export type Refusal = 'unpaired' | 'revoked' | 'wrong-machine' | 'version';

/** `attempt` counts from 1. `since`: when the daemon was heard last, or first missed. */
interface Trying {
  readonly attempt: number;
  readonly since: number;
}

export type ConnectionState =
  | ({ readonly type: 'connecting' } & Trying)
  | ({ readonly type: 'authenticating'; readonly machine: Machine } & Trying)
  | { readonly type: 'open'; readonly machine: Machine; readonly bootId: string; readonly since: number }
  /** `at`: when the next try is made. */
  | ({ readonly type: 'retrying'; readonly at: number; readonly reason: string } & Trying)
  /** As retrying, while the browser says that there is no network: tried all the same, as a daemon on this very machine needs none. */
  | ({ readonly type: 'offline'; readonly at: number } & Trying)
  /** `machine` is null where what answered could not prove who it is. */
  | {
      readonly type: 'refused';
      readonly reason: Refusal;
      readonly message: string;
      readonly machine: Machine | null;
    }
  | { readonly type: 'closed' };

export function start(now: number): ConnectionState {
  return { type: 'connecting', attempt: 1, since: now };
}

/** The wait is over, or a person does not want to wait. */
export function retry(state: ConnectionState, now: number): ConnectionState {
  switch (state.type) {
    case 'retrying':
    case 'offline':
      return { type: 'connecting', attempt: state.attempt, since: state.since };
    case 'refused':
      return start(now);
    case 'connecting':
    case 'authenticating':
    case 'open':
    case 'closed':
      return state;
  }
}

/** The machine has proven who it is. */
export function greet(state: ConnectionState, machine: Machine): ConnectionState {
  if (state.type !== 'connecting') return state;
  return { type: 'authenticating', machine, attempt: state.attempt, since: state.since };
}

export function open(state: ConnectionState, bootId: string, now: number): ConnectionState {
  return state.type === 'authenticating' ? { type: 'open', machine: state.machine, bootId, since: now } : state;
}

/** The socket is gone, or counts as gone. `delayMs` says how long to wait, by the number of the coming attempt. */
export function drop(
  state: ConnectionState,
  world: { now: number; online: boolean; reason: string; delayMs: (attempt: number) => number },
): ConnectionState {
  if (state.type !== 'open' && state.type !== 'connecting' && state.type !== 'authenticating') return state;
  const attempt = state.type === 'open' ? 1 : state.attempt + 1;
  const since = state.type === 'open' ? world.now : state.since;
  const at = world.now + world.delayMs(attempt);
  if (!world.online) return { type: 'offline', attempt, since, at };
  return { type: 'retrying', attempt, since, at, reason: world.reason };
}

export function refuse(
  state: ConnectionState,
  reason: Refusal,
  message: string,
  machine: Machine | null,
): ConnectionState {
  return state.type === 'closed' ? state : { type: 'refused', reason, message, machine };
}

export function close(): ConnectionState {
  return { type: 'closed' };
}
