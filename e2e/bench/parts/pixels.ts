/**
 * From the moment when the provider writes a piece of a reply to the frame that shows it in a browser, while ten sessions stream and one of them is
 * on the screen. The page's clock is laid beside the machine's first. A piece counts as shown when the frame in which it entered the page has been
 * painted, not before.
 */
import type { Page } from '@playwright/test';
import { AlcoveServer } from '../contestants/alcove-server.ts';
import type { Bench, Measured } from '../contestant.ts';
import { now, percentile } from '../measure.ts';
import { launchChromium, namesInPages, serviceWorkerOf } from './browser.ts';
import { eachInTurn, standsOf } from './servers.ts';

const sessions = 10;
const chunks = 300;
const gapMs = 20;
/** The last frame is painted by then. */
const settleMs = 500;
const calibrations = 50;

/** What the page keeps. */
interface Watching {
  /** By the provider's stamp, the page's time of the frame that shows it, in ms. */
  shown: Record<string, number>;
  longTasks: number;
}

export async function pixels(bench: Bench): Promise<Measured[]> {
  const browser = await launchChromium();
  const measured: Measured[] = [];
  await eachInTurn(bench, 'pixels', await standsOf(bench, ['alcove']), async ({ name, server, place }) => {
    if (browser === null) throw new Error('no Chromium was found');
    if (!(server instanceof AlcoveServer)) throw new Error('it has no page that this knows');
    await server.start();
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.addInitScript(namesInPages);
      await page.goto(await server.pairingLink());
      await serviceWorkerOf(page);
      const [p50, p99, longTasks]: [number[], number[], number[]] = [[], [], []];
      // The first run loads what is needed for the first reply, and is not counted.
      for (let run = 0; run <= bench.runs; run += 1) {
        const found = await streamOnScreen(server, place.folder, page, run === 0 ? 20 : chunks);
        if (run === 0) continue;
        p50.push(percentile(found.latencies, 0.5));
        p99.push(percentile(found.latencies, 0.99));
        longTasks.push(found.longTasks);
      }
      measured.push(
        { id: 'pixels.p50', contestant: name, values: p50 },
        { id: 'pixels.p99', contestant: name, values: p99 },
        { id: 'pixels.long-tasks', contestant: name, values: longTasks },
      );
    } finally {
      await context.close();
      await server.close();
    }
  });
  await browser?.close();
  return measured;
}

/** Ten new sessions, one of them opened in the page. Rejects where a piece was not shown. */
async function streamOnScreen(
  server: AlcoveServer,
  folder: string,
  page: Page,
  pieces: number,
): Promise<{ latencies: number[]; longTasks: number }> {
  const all: string[] = [];
  for (let count = 0; count < sessions; count += 1) all.push(await server.create(folder));
  await page.goto(`${server.address}/s/${all[0]}`);
  await page.getByRole('log').waitFor({ state: 'attached' });
  await page.evaluate(watch);
  const offsetUs = await offsetOf(page);
  await Promise.all(
    all.map(async (session) => {
      await server.send(session, `CHUNKS=${pieces} DELAY=${gapMs}`);
      await server.done(session);
    }),
  );
  await page.waitForTimeout(settleMs);
  const { shown, longTasks } = await page.evaluate(() => (globalThis as unknown as { watching: Watching }).watching);
  const latencies = Object.entries(shown).map(([stamp, ms]) => (ms * 1000 + offsetUs - Number(stamp)) / 1000);
  if (latencies.length !== pieces) throw new Error(`${latencies.length} of ${pieces} pieces were shown`);
  return { latencies, longTasks };
}

/** What is to be added to the page's time, in µs, for the machine's: by the quickest of many questions, whose error is the smallest. */
async function offsetOf(page: Page): Promise<number> {
  let best = { round: Infinity, offset: 0 };
  for (let count = 0; count < calibrations; count += 1) {
    const asked = now();
    const pageMs = await page.evaluate(() => performance.now());
    const answered = now();
    const round = answered - asked;
    if (round < best.round) best = { round, offset: asked + round / 2 - pageMs * 1000 };
  }
  return best.offset;
}

/** Runs in the page. */
function watch(): void {
  const watching: Watching = { shown: {}, longTasks: 0 };
  (globalThis as unknown as { watching: Watching }).watching = watching;
  new PerformanceObserver((list) => (watching.longTasks += list.getEntries().length)).observe({ type: 'longtask' });

  // Whether the page was changed by a task or by a callback of the frame itself: the message that each frame sends comes in behind its paint.
  const entered = new Set<string>();
  const painted = new MessageChannel();
  painted.port1.onmessage = () => {
    const at = performance.now();
    for (const stamp of entered) watching.shown[stamp] ??= at;
    entered.clear();
  };
  const frame = () => {
    painted.port2.postMessage(null);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);

  const look = () => {
    const text = document.querySelector('[role="log"]')?.textContent ?? '';
    for (const [, stamp = ''] of text.matchAll(/@(\d+)@/g)) if (watching.shown[stamp] === undefined) entered.add(stamp);
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
}
