/**
 * What every story starts from: a provider that plays a script, a folder of the person's, a real daemon with a home of its own, and the app
 * in a browser. A failed story keeps what the daemon said and the log of every session, readable.
 */
import { test as base } from '@playwright/test';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startOpenAiServer, type OpenAiServer } from '../../daemon/testing/openai-server.ts';
import { App } from './app.ts';
import { Daemon } from './daemon.ts';
import { makeSample, type SampleName } from './folder.ts';
import { SmallDisk } from './mounts.ts';

export { expect } from '@playwright/test';
export { chatReply } from '../../daemon/testing/openai-server.ts';
export { errorReply, followedBy } from '../../daemon/testing/wire-server.ts';

/** A key that must never show anywhere; the provider demands it. */
export const secretKey = 'sk-e2e-3f9c-never-show-me';

interface Options {
  /** Which sample project the daemon is started in. */
  sample: SampleName;
  /** False: a fresh machine, where only the built-in demo answers. */
  configured: boolean;
  /** Where model servers of the machine are looked for. */
  localServers: string;
  /** True: the daemon runs where there is no network, and its provider is elsewhere. See `canBeOffline`. */
  offlineDaemon: boolean;
  /** Bytes of a disk of its own that holds the daemon's home; null for none. See `canMount`. */
  diskBytes: number | null;
}

interface Fixtures {
  scratch: string;
  folder: string;
  provider: OpenAiServer;
  /** The one that `diskBytes` asks for. */
  disk: SmallDisk | null;
  daemon: Daemon;
  /** Paired, with the sample folder open and the composer of a new session before the person. */
  app: App;
  /** Not paired yet. */
  newcomer: App;
}

export const test = base.extend<Options & Fixtures>({
  sample: ['garden', { option: true }],
  configured: [true, { option: true }],
  localServers: ['off', { option: true }],
  offlineDaemon: [false, { option: true }],
  diskBytes: [null, { option: true }],

  scratch: async ({}, use) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'alcove-e2e-')));
    await use(folder);
    await rm(folder, { recursive: true, force: true });
  },

  folder: async ({ scratch, sample }, use) => {
    await use(await makeSample(sample, scratch));
  },

  provider: async ({}, use) => {
    const provider = await startOpenAiServer();
    await use(provider);
    await provider.close();
  },

  disk: async ({ scratch, diskBytes }, use) => {
    const disk = diskBytes === null ? null : new SmallDisk(join(scratch, 'home'), diskBytes);
    await use(disk);
    disk?.unmount();
  },

  daemon: async ({ scratch, folder, provider, configured, localServers, offlineDaemon, disk }, use, testInfo) => {
    const home = join(scratch, 'home');
    if (disk === null) await mkdir(home, { mode: 0o700 });
    // An address that is nobody's (RFC 5737), and without a network none is tried.
    const baseUrl = offlineDaemon ? 'https://192.0.2.1/v1' : provider.url;
    const providers = {
      loopback: { format: 'openai-chat', baseUrl, keyEnv: 'E2E_KEY', models: ['scripted', 'second'] },
    };
    if (configured) await writeFile(join(home, 'settings.json'), JSON.stringify({ providers }), { mode: 0o600 });
    // The person's home is not Alcove's, and no model server of this machine plays in.
    const environment = { E2E_KEY: secretKey, HOME: scratch, ALCOVE_LOCAL_SERVERS: localServers };
    const daemon = new Daemon({ home, folder, environment, offline: offlineDaemon });
    await daemon.start();
    await use(daemon);
    await daemon.stop();
    if (testInfo.status === testInfo.expectedStatus) return;
    await testInfo.attach('daemon.txt', { body: daemon.output });
    for (const log of await daemon.logs())
      await testInfo.attach(basename(log), { body: await readFile(log), contentType: 'application/octet-stream' });
  },

  newcomer: async ({ page, daemon, isMobile }, use) => {
    await use(new App(page, daemon, isMobile));
  },

  app: async ({ newcomer }, use) => {
    await newcomer.pair();
    await newcomer.openOfferedFolder();
    await use(newcomer);
  },
});
