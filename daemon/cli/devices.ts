/** `alcove devices`, `alcove devices revoke ID`. */
import type { CommandId, DeviceId } from '#protocol/values/ids.ts';
import { systemClock } from '../base/clock.ts';
import { SystemIds } from '../base/ids.ts';
import { Running } from './running.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';

export async function devices(
  around: Surroundings,
  action: string | undefined,
  device: string | undefined,
): Promise<number> {
  if (action !== undefined && action !== 'list' && action !== 'revoke')
    throw new UsageError(`Use "alcove devices" or "alcove devices revoke ID".`);
  if (action === 'revoke' && device === undefined)
    throw new UsageError('Name the device: "alcove devices" lists their ids.');
  const running = await Running.find(around.home);
  if (action === 'revoke') {
    const commandId = new SystemIds(systemClock).uuid7() as CommandId;
    await running.call('device.revoke', { commandId, deviceId: device as DeviceId });
    process.stdout.write('Revoked. Its sockets are closed and its token is void.\n');
    return 0;
  }
  const { devices: all } = await running.call('device.list', {});
  if (all.length === 0) process.stdout.write('No device is paired. Make a code with: alcove pair\n');
  for (const one of all) {
    const used = one.connected ? 'connected now' : `last used ${new Date(one.lastUsedAt).toISOString()}`;
    process.stdout.write(`${one.deviceId}  ${one.name}  ${used}\n`);
  }
  return 0;
}
