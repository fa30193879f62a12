/**
 * The paired browsers, kept owner-only under the home with the hash of each token. A device ends when it is revoked, or after ninety days
 * without use. Promises: a token is known to nobody but its browser; revoking is durable before it is answered, and closes every socket of
 * the device at once.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { RequestError } from '#protocol/errors.ts';
import { deviceUnusedMs } from '#protocol/limits.ts';
import type { Device } from '#protocol/commands/machine.ts';
import { z } from '#protocol/schema.ts';
import { deviceId as deviceIdSchema, type DeviceId } from '#protocol/values/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { newId, type Ids } from '../base/ids.ts';
import type { Store } from '../base/store.ts';
import { openStore } from './kept-file.ts';

const keptDevice = z.object({
  deviceId: deviceIdSchema,
  name: z.string(),
  /** SHA-256 of the token's text, hex: also the key by which a socket proves it. */
  tokenSha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  pairedAt: z.number(),
  lastUsedAt: z.number(),
});
type KeptDevice = z.infer<typeof keptDevice>;
const keptDevices = z.object({ devices: z.array(keptDevice) });
type KeptDevices = z.infer<typeof keptDevices>;

interface DevicesNeeds {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly diagnostics: Diagnostics;
}

export class Devices {
  readonly #store: Store<KeptDevices>;
  readonly #needs: DevicesNeeds;
  /** How to close each socket of a device that is connected. */
  readonly #connected = new Map<DeviceId, Set<() => void>>();

  private constructor(store: Store<KeptDevices>, needs: DevicesNeeds) {
    this.#store = store;
    this.#needs = needs;
  }

  static async open(home: string, needs: DevicesNeeds): Promise<Devices> {
    return new Devices(await openStore(join(home, 'devices.json'), keptDevices, { devices: [] }, needs), needs);
  }

  /** Makes a device; its token is in the answer and nowhere else. */
  async add(name: string): Promise<{ deviceId: DeviceId; token: string }> {
    const token = randomBytes(32).toString('base64url');
    const now = this.#needs.clock.now();
    const added: KeptDevice = {
      deviceId: newId('dev', this.#needs.ids),
      name,
      tokenSha256: createHash('sha256').update(token).digest('hex'),
      pairedAt: now,
      lastUsedAt: now,
    };
    await this.#store.update(({ devices }) => ({ devices: [...devices.filter((one) => this.#lives(one)), added] }));
    return { deviceId: added.deviceId, token };
  }

  list(current: DeviceId | null): Device[] {
    return this.#store.value.devices
      .filter((one) => this.#lives(one))
      .map(({ deviceId, name, pairedAt, lastUsedAt }) => {
        return {
          deviceId,
          name,
          pairedAt,
          lastUsedAt,
          connected: this.#connected.has(deviceId),
          current: deviceId === current,
        };
      });
  }

  /** The name of the device whose token made the proof (HMAC-SHA-256 of the transcript, base64url), or null. */
  verify(deviceId: DeviceId, transcript: string, proof: string): { name: string } | null {
    const device = this.#find(deviceId);
    if (device === undefined) return null;
    const key = Buffer.from(device.tokenSha256, 'hex');
    const expected = createHmac('sha256', key).update(transcript).digest();
    const given = Buffer.from(proof, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    return { name: device.name };
  }

  /** Says that a socket of the device is open now, and how it is closed. Returns what to call when it has ended. */
  connect(deviceId: DeviceId, close: () => void): () => void {
    const sockets = this.#connected.get(deviceId) ?? new Set();
    this.#connected.set(deviceId, sockets.add(close));
    this.#touch(deviceId);
    return () => {
      sockets.delete(close);
      if (sockets.size === 0 && this.#connected.get(deviceId) === sockets) this.#connected.delete(deviceId);
      this.#touch(deviceId);
    };
  }

  async revoke(deviceId: DeviceId): Promise<void> {
    if (this.#find(deviceId) === undefined)
      throw new RequestError('not_found', 'There is no such device; it may have been revoked already.');
    await this.#store.update(({ devices }) => ({ devices: devices.filter((one) => one.deviceId !== deviceId) }));
    for (const close of [...(this.#connected.get(deviceId) ?? [])]) close();
  }

  /** Resolves when the last use of each device is on disk. */
  close(): Promise<void> {
    return this.#store.close();
  }

  #find(deviceId: DeviceId): KeptDevice | undefined {
    return this.#store.value.devices.find((one) => one.deviceId === deviceId && this.#lives(one));
  }

  #lives(device: KeptDevice): boolean {
    return this.#connected.has(device.deviceId) || this.#needs.clock.now() - device.lastUsedAt <= deviceUnusedMs;
  }

  #touch(deviceId: DeviceId): void {
    const lastUsedAt = this.#needs.clock.now();
    const used = (one: KeptDevice) => (one.deviceId === deviceId ? { ...one, lastUsedAt } : one);
    this.#store
      .update((value) => {
        const known = value.devices.some((one) => one.deviceId === deviceId);
        return known ? { devices: value.devices.map(used) } : value;
      })
      // A full disk must not keep a person out: the device's age is then that of its last use on disk.
      .catch((error: unknown) =>
        this.#needs.diagnostics.warn('The last use of a device was not kept', { deviceId, error }),
      );
  }
}
