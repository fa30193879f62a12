/** The machine, and its devices. */
import { z } from '../schema.ts';
import { commandId, deviceId, machineId } from '../values/ids.ts';
import { sandboxState } from '../values/sandbox.ts';

export const device = z.object({
  deviceId,
  name: z.string(),
  pairedAt: z.number(),
  lastUsedAt: z.number(),
  connected: z.boolean(),
  current: z.boolean(),
});
export type Device = z.infer<typeof device>;

export const machineCommands = {
  'machine.status': {
    doc: 'Name, version, what runs and what waits.',
    params: z.object({}),
    result: z.object({
      name: z.string(),
      version: z.string(),
      machineId,
      bootId: z.string(),
      startedAt: z.number(),
      pid: z.int(),
      port: z.int(),
      home: z.string(),
      sessions: z.object({ running: z.int(), waiting: z.int(), all: z.int() }),
      clients: z.int(),
      /** Which sandbox bash runs in. */
      sandbox: sandboxState,
    }),
  },
  'machine.stop': {
    doc: 'Ends the daemon in order; for the command line of its own user. Answers `busy`, and changes nothing, while work runs, unless `force` says to close that as interrupted.',
    params: z.object({ commandId, force: z.boolean() }),
    result: z.object({}),
  },
  'device.list': { doc: 'Paired browsers.', params: z.object({}), result: z.object({ devices: z.array(device) }) },
  'device.revoke': {
    doc: 'Ends a device: its token is void, its sockets close.',
    params: z.object({ commandId, deviceId }),
    result: z.object({}),
  },
  'pairing.create': {
    doc: 'Makes a one-time code, valid for ten minutes: a 128-bit one for the link, eight characters to type.',
    params: z.object({}),
    result: z.object({
      link: z.string(),
      typed: z.string(),
      expiresAt: z.number(),
      keyFingerprint: z.string(),
      ssh: z.string(),
    }),
  },
};
