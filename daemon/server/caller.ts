/** Who asks, once that is known: a paired browser, or the command line of the daemon's own user. */
import type { DeviceId } from '#protocol/values/ids.ts';

export type Caller =
  | { readonly kind: 'device'; readonly deviceId: DeviceId; readonly name: string }
  | { readonly kind: 'command-line'; readonly deviceId: null; readonly name: string };

export const commandLine: Caller = { kind: 'command-line', deviceId: null, name: 'command line' };
