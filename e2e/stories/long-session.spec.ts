/** A session whose single turn holds 20,000 events: it opens on its newest step at once, and paging back ends with the whole of it. */
import { longTurn, longTurnEvents, writeSession } from '../support/long-turn.ts';
import { expect, test } from '../support/test.ts';

const maxFirstScreen = 400_000;

test('MB4 RT1: a person opens a session of 20,000 events in one turn, and reads back to where it began', async ({
  app,
  daemon,
}, testInfo) => {
  test.setTimeout(180_000);
  const log = longTurn();
  expect(log.events.length).toBeGreaterThanOrEqual(longTurnEvents);
  const steps = log.conversation.active?.steps.length ?? 0;
  await daemon.stop();
  const sessionId = await writeSession(daemon.home, log.events);
  await daemon.start();

  let bytes = 0;
  app.page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => (bytes += payload.length)));
  const startedAt = Date.now();
  await app.page.goto(`${daemon.address}/s/${sessionId}`);
  const newest = app.conversation.getByText(`Leaf ${steps - 1}.11 was looked at and turned over.`);
  await expect(newest.last()).toBeInViewport();
  const firstMs = Date.now() - startedAt;
  const firstBytes = bytes;
  expect(firstBytes).toBeLessThan(maxFirstScreen);

  // Reading back: whatever is above comes when the person gets there.
  const beginning = app.conversation.getByText('Work until it is done.');
  const view = app.conversation;
  await expect
    .poll(
      async () => {
        await view.evaluate((log) => {
          let place: Element | null = log;
          while (place !== null && place.scrollHeight <= place.clientHeight + 1) place = place.parentElement;
          place?.scrollTo(0, 0);
        });
        return beginning.count();
      },
      { timeout: 120_000 },
    )
    .toBe(1);

  // The page equals the whole: every step stands there once, in order.
  const text = await view.evaluate((log) => log.textContent);
  const shown = [...text.matchAll(/Leaf (\d+)\.11 was/g)].map(([, step]) => Number(step));
  expect(shown).toEqual(Array.from({ length: steps }, (_, step) => step));
  const said = `${log.events.length} events in ${steps} steps: first screen ${firstBytes} bytes in ${firstMs} ms; all of it ${bytes} bytes`;
  testInfo.annotations.push({ type: 'figure', description: said });
  process.stdout.write(`${said}\n`);
});
