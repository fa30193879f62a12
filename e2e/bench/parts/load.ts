/**
 * The app in a browser that has never seen it: what comes over the wire until the first screen stands, and whether anything is asked from
 * elsewhere. Then sessions of a hundred and of a hundred thousand events, opened by their address: from the navigation to the frame that shows
 * the newest words, with the shell in the browser's own cache as after any first visit.
 */
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { AlcoveServer } from '../contestants/alcove-server.ts';
import { OpencodeServer } from '../contestants/opencode-server.ts';
import type { Bench, Measured } from '../contestant.ts';
import { launchChromium, namesInPages, serviceWorkerOf } from './browser.ts';
import { countAnswersOf, type Hit } from './counting-proxy.ts';
import { eachInTurn, standsOf, type Stand } from './servers.ts';
import { newestWords, writeLongSession } from './written-sessions.ts';

const kilobyte = 1000;
/** What has gone over the wire when nothing was asked for so long. */
const quietMs = 1500;
/** Smaller texts are not worth compressing. */
const worthCompressingBytes = 1400;
const sizes = [100, 100_000] as const;
const openMs = 30_000;

export async function load(bench: Bench): Promise<Measured[]> {
  const browser = await launchChromium();
  const stands = (await standsOf(bench)).filter(({ server }) => isWebServer(server));
  if (browser === null) {
    for (const { name } of stands) bench.skip(name, 'load', 'no Chromium was found');
    return [];
  }
  try {
    const first = await firstLoads(bench, browser, stands);
    const ours = await standsOf(bench, ['alcove']);
    return [...first, ...(await openings(bench, browser, ours))];
  } finally {
    await browser.close();
  }
}

function isWebServer(server: Stand['server']): server is AlcoveServer | OpencodeServer {
  return server instanceof AlcoveServer || server instanceof OpencodeServer;
}

async function firstLoads(bench: Bench, browser: Browser, stands: readonly Stand[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  await eachInTurn(bench, 'load', stands, async ({ name, server, place }) => {
    if (!isWebServer(server)) return;
    await server.start();
    const proxy = await countAnswersOf(server.port);
    try {
      const session = await server.create(place.folder);
      await server.send(session, 'CHUNKS=2 hello');
      await server.done(session);
      const entry = async () =>
        server instanceof AlcoveServer ? `${proxy.address}${pathOf(await server.pairingLink())}` : `${proxy.address}/`;
      const add = (what: string, value: number, note?: string) =>
        measured.push({
          id: `load.${what}`,
          contestant: name,
          values: [value],
          ...(note === undefined ? {} : { note }),
        });

      // Sizes do not vary: once is enough.
      let outside = await visit(
        browser,
        proxy.address,
        await entry(),
        async (page) => await quiet(page, () => proxy.hits.length),
      );
      const hits = [...proxy.hits];
      const now = hits.filter((hit) => !hit.forLater);
      const sum = (some: readonly Hit[], what: 'wireBytes' | 'gzipBytes') =>
        some.reduce((bytes, hit) => bytes + hit[what], 0) / kilobyte;
      add('script', sum(now.filter(isScript), 'gzipBytes'), `${now.filter(isScript).length} files`);
      add('wire', sum(now, 'wireBytes'));
      add('requests', now.length);
      add(
        'later',
        sum(
          hits.filter((hit) => hit.forLater),
          'wireBytes',
        ),
        'what the service worker stores',
      );
      add('uncompressed', now.filter(isPlain).length);
      add('uncached', now.filter((hit) => isFile(hit) && hit.cacheControl === null).length);

      if (server instanceof AlcoveServer) {
        proxy.reset();
        const rest = await visit(
          browser,
          proxy.address,
          await entry(),
          async (page) => {
            await quiet(page, () => proxy.hits.length);
            await page.goto(`${proxy.address}/s/${session}`);
            await page.getByRole('log').getByText('word1').first().waitFor();
            await quiet(page, () => proxy.hits.length);
          },
          'no service worker',
        );
        outside = [...outside, ...rest];
        const paths = new Map(proxy.hits.filter(isScript).map((hit) => [hit.path, hit]));
        add(
          'session-script',
          sum([...paths.values()], 'gzipBytes'),
          `${paths.size} files, a session's page among them`,
        );
      }
      add('outside', outside.length, outside.slice(0, 3).join(' '));
    } finally {
      await proxy.close();
      await server.close();
    }
  });
  return measured;
}

/** One visit of a browser that knows nothing. Returns what it asked for from elsewhere. */
async function visit(
  browser: Browser,
  origin: string,
  address: string,
  look: (page: Page) => Promise<void>,
  worker: 'service worker' | 'no service worker' = 'service worker',
): Promise<string[]> {
  const context = await browser.newContext({ serviceWorkers: worker === 'service worker' ? 'allow' : 'block' });
  const elsewhere: string[] = [];
  context.on('request', (asked) => {
    const { protocol, host } = new URL(asked.url());
    if (/^(https?|wss?):$/.test(protocol) && host !== new URL(origin).host) elsewhere.push(asked.url());
  });
  try {
    const page = await context.newPage();
    await page.goto(address);
    await look(page);
  } finally {
    await context.close();
  }
  return elsewhere;
}

async function openings(bench: Bench, browser: Browser, stands: readonly Stand[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  await eachInTurn(bench, 'open', stands, async ({ name, server }) => {
    if (!(server instanceof AlcoveServer)) return;
    await server.start();
    await server.stop();
    const sessions = new Map<number, string>();
    for (const events of sizes) sessions.set(events, await writeLongSession(server.home, events, 'many'));
    await server.start();
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(await server.pairingLink());
      await serviceWorkerOf(page);
      await page.waitForTimeout(quietMs);
      const found = new Map(sizes.map((events) => [events, { ms: [] as number[], kilobytes: [] as number[] }]));
      for (let run = 0; run <= Math.max(5, bench.runs); run += 1)
        for (const events of sizes) {
          const opened = await openOnce(context, `${server.address}/s/${sessions.get(events)}`);
          if (run === 0) continue; // Either size has been opened once, so the first of them has no advantage.
          found.get(events)?.ms.push(opened.ms);
          found.get(events)?.kilobytes.push(opened.bytes / kilobyte);
        }
      for (const [events, { ms, kilobytes }] of found)
        measured.push(
          { id: `open.${events}`, contestant: name, values: ms },
          { id: `open.${events}-bytes`, contestant: name, values: kilobytes },
        );
    } finally {
      await context.close();
      await server.close();
    }
  });
  return measured;
}

/** In a tab of its own. The page itself looks, frame by frame, when the newest words stand in it. */
async function openOnce(context: BrowserContext, address: string): Promise<{ ms: number; bytes: number }> {
  const page = await context.newPage();
  try {
    let bytes = 0;
    page.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => (bytes += Buffer.byteLength(payload)));
    });
    await page.addInitScript(namesInPages);
    await page.addInitScript(watchForWords, newestWords);
    await page.goto(address, { waitUntil: 'commit' });
    const shown = await page.waitForFunction(() => (globalThis as { shownAfterMs?: number }).shownAfterMs, undefined, {
      timeout: openMs,
    });
    const ms = (await shown.jsonValue()) ?? 0;
    if (!(await page.getByText(newestWords).last().isVisible())) throw new Error('the newest words are not in view');
    await quiet(page, () => bytes);
    return { ms, bytes };
  } finally {
    await page.close();
  }
}

/** Runs in the page. A frame has been painted when the message that was sent while it was prepared comes in. */
function watchForWords(words: string): void {
  const painted = new MessageChannel();
  painted.port1.onmessage = () => {
    (globalThis as { shownAfterMs?: number }).shownAfterMs = performance.now();
  };
  const look = () => {
    const log = document.querySelector('[role="log"]');
    if (log?.textContent.includes(words) === true) painted.port2.postMessage(null);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Resolves when what has come so far stays the same for a while. Not the browser's own idle: a page with a stream open never is. */
async function quiet(page: Page, soFar: () => number): Promise<void> {
  for (let last = -1; soFar() !== last;) {
    last = soFar();
    await page.waitForTimeout(quietMs);
  }
}

function pathOf(link: string): string {
  const { pathname, search, hash } = new URL(link);
  return `${pathname}${search}${hash}`;
}

function isScript({ type }: Hit): boolean {
  return /javascript/.test(type);
}

/** Text that would have been smaller. */
function isPlain({ type, encoding, wireBytes }: Hit): boolean {
  return encoding === null && wireBytes > worthCompressingBytes && /text|javascript|json|svg/.test(type);
}

/** Something that a browser could keep; an answer of the interface is not. */
function isFile({ type, status }: Hit): boolean {
  return status === 200 && /javascript|css|font|image/.test(type);
}
