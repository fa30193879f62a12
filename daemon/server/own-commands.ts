/** Handlers of the commands that are about the door itself: devices, pairing, the machine, and pages of history from the same source as events. */
import type { Result } from '#protocol/command.ts';
import type { SandboxState } from '#protocol/values/sandbox.ts';
import type { About } from './socket.ts';
import type { Handlers } from './commands.ts';
import type { Devices } from './devices.ts';
import type { Machine } from './machine.ts';
import type { Pairings } from './pairing.ts';
import type { SessionSources } from './session-source.ts';

export type OwnCommand = 'device.list' | 'device.revoke' | 'pairing.create' | 'machine.status' | 'session.page';

export interface OwnNeeds {
  readonly about: About;
  readonly machine: Machine;
  readonly devices: Devices;
  readonly pairings: Pairings;
  readonly sessions: SessionSources;
  readonly home: string;
  readonly startedAt: number;
  /** What only the composition root and a running listener know. */
  counts(): Result<'machine.status'>['sessions'];
  readonly sandbox: SandboxState;
  clients(): number;
  port(): number;
}

export function ownHandlers(needs: OwnNeeds): Pick<Handlers, OwnCommand> {
  const { about, machine, devices, sessions } = needs;
  return {
    'device.list': async (_, caller) => ({ devices: devices.list(caller.deviceId) }),
    'device.revoke': async ({ deviceId }) => {
      await devices.revoke(deviceId);
      return {};
    },
    'pairing.create': async () => invitation(needs, needs.port()),
    'machine.status': async () => ({
      name: about.name,
      version: about.version,
      machineId: machine.machineId,
      bootId: about.bootId,
      startedAt: needs.startedAt,
      pid: process.pid,
      port: needs.port(),
      home: needs.home,
      sessions: needs.counts(),
      clients: needs.clients(),
      sandbox: needs.sandbox,
    }),
    'session.page': async ({ sessionId, before }) => {
      const source = await sessions.open(sessionId);
      try {
        return await source.page(before);
      } finally {
        source.release();
      }
    },
  };
}

/** A new pairing code, and what brings a browser to it. */
export function invitation(
  { pairings, machine, about }: Pick<OwnNeeds, 'pairings' | 'machine' | 'about'>,
  port: number,
): Result<'pairing.create'> {
  const { code, typed, expiresAt } = pairings.create();
  return {
    link: pairingLink(port, { pair: code, machine: machine.machineId, key: machine.fingerprint }),
    typed,
    expiresAt,
    keyFingerprint: machine.fingerprint,
    ssh: `ssh -L ${port}:localhost:${port} ${about.name}`,
  };
}

/** All of it stands in the fragment, which no server and no log sees. */
function pairingLink(port: number, fields: Readonly<Record<string, string>>): string {
  return `http://localhost:${port}/#${new URLSearchParams(fields).toString()}`;
}
