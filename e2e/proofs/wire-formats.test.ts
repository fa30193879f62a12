/**
 * The same work over each wire format: twenty steps with calls in parallel, run by the command line against a provider on loopback that speaks
 * the format and demands what the vendor demands. Each log folds to the same conversation.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { formats, pairingProblem, type Said } from '../support/formats.ts';
import { callsOf, eventsIn, House, report, secretKey, soundFold, textIn } from './house.ts';

const look = { tool: 'read', arguments: { path: 'notes.md' } };
const work = (place: number) => ({
  tool: 'bash',
  arguments: { command: `echo ${place} >> steps.txt; echo did ${place}` },
});
/** Every fourth step thinks, speaks and makes three calls at once; the twentieth is the answer. */
const steps = Array.from({ length: 20 }, (_, place): Said => {
  if (place === 19) return { text: 'All done.' };
  if (place % 4 === 1) return { thought: 'Hm.', text: 'Looking.', calls: [look, work(place), look] };
  return { calls: [work(place)] };
});

describe.each(formats)('$name', (format) => {
  it(
    'PR2 PR21 RT1: twenty steps with calls in parallel are run, answered in order, and folded',
    { timeout: 60_000 },
    async () => {
      const house = await House.open();
      const server = await format.start();
      onTestFinished(() => server.close());
      const provider = { format: format.name, baseUrl: server.url, keyEnv: 'E2E_KEY', models: ['scripted'] };
      await writeFile(join(house.home, 'settings.json'), JSON.stringify({ providers: { vendor: provider } }));
      server.enqueue(...steps.map(format.reply));
      const from = performance.now();
      const run = await house
        .alcove(['run', 'Do twenty things.', '--model', 'vendor/scripted', '--mode', 'auto', '--json'])
        .ended();
      const tookMs = Math.round(performance.now() - from);
      expect(run).toMatchObject({ code: 0, stderr: '' });

      const events = eventsIn(run.stdout);
      const conversation = soundFold(events);
      expect(conversation.turns).toHaveLength(1);
      expect(conversation.turns[0]).toMatchObject({ outcome: 'completed', calls: 29 });
      expect(conversation.turns[0]?.steps).toHaveLength(20);
      expect(callsOf(conversation).map((one) => one.outcome)).toEqual(Array.from({ length: 29 }, () => 'completed'));
      expect(house.read('steps.txt')).toBe(Array.from({ length: 19 }, (_, place) => `${place}\n`).join(''));
      expect(textIn(events)).toBe(`${'Looking.'.repeat(5)}All done.`);
      expect(conversation.usage).toMatchObject({ steps: 20, unknownSteps: 0, input: 2000, output: 200 });

      expect(server.requests).toHaveLength(20);
      for (const [place, request] of server.requests.entries()) {
        const marks = format.marks(request.body);
        expect(pairingProblem(marks), `request ${place + 1}`).toBeNull();
        expect(marks.filter((mark) => mark.startsWith('+'))).toHaveLength(
          steps.slice(0, place).reduce((sum, one) => sum + (one.calls?.length ?? 0), 0),
        );
      }
      expect(run.stdout).not.toContain(secretKey);
      report(`${format.name}: 20 steps, 29 calls, ${events.length} events, ${tookMs} ms with start and end`);
    },
  );
});
