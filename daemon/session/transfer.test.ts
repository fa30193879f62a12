import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { maxEventBytes } from '../base/limits.ts';
import { agentOn, calls, ended, fakeTool, says } from '../testing/agent-on.ts';
import { sessionIdOf, temporaryHome } from '../testing/temporary-home.ts';
import { dumpLog } from './inspect.ts';
import { placeInHome } from './place.ts';
import { Session } from './session.ts';
import { importLog } from './transfer.ts';

async function exported() {
  const made = await agentOn([calls('look'), says('Seen: 🌱 あ\u2028')], { tools: [fakeTool('look')] });
  await made.submit('Look.');
  await made.until(ended());
  await made.agent.close();
  await made.session.close();
  const lines: string[] = [];
  await dumpLog(
    made.place.log,
    async (line) => void lines.push(line),
    () => undefined,
  );
  return { ...made, lines };
}

function fileOf(home: string, lines: readonly string[]): string {
  mkdirSync(home, { recursive: true });
  const file = join(home, 'kept.jsonl');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
}

const dumped = async (log: string) => {
  const lines: string[] = [];
  await dumpLog(
    log,
    async (line) => void lines.push(line),
    (damage) => expect(damage).toBeNull(),
  );
  return lines;
};

test('AP2 what is exported and imported elsewhere is the same session, line by line, and goes on', async () => {
  const { lines, session, options } = await exported();
  const home = await temporaryHome();
  const unknown = JSON.stringify({ seq: lines.length + 1, at: 1, type: 'later.thing', of: 'a newer version' });
  const file = fileOf(home.home, [...lines, unknown]);
  expect(await importLog(file, home)).toEqual({ sessionId: sessionIdOf(1), events: lines.length + 1 });
  const place = placeInHome(home, sessionIdOf(1));
  expect(await dumped(place.log)).toEqual([...lines, unknown]);
  const again = await Session.open(place, options);
  expect(again.conversation.turns).toEqual(session.conversation.turns);
  await again.close();
  // As the log itself, too.
  const third = await temporaryHome();
  await importLog(place.log, third);
  expect(await dumped(placeInHome(third, sessionIdOf(1)).log)).toEqual([...lines, unknown]);
});

test('one that is there already is not written over', async () => {
  const { lines, place, home } = await exported();
  const before = readFileSync(place.log);
  await expect(importLog(fileOf(home.home, lines), home)).rejects.toMatchObject({ code: 'conflict' });
  expect(readFileSync(place.log)).toEqual(before);
});

test('what is no whole session is refused with its line, and leaves nothing', async () => {
  const { lines } = await exported();
  const cases: [string, string[], RegExp][] = [
    ['garbage', [...lines.slice(0, 3), 'garbage', ...lines.slice(3)], /line 4/],
    ['a line that is missing', lines.filter((_, place) => place !== 4), /line 5/],
    ['a line that comes twice', [...lines.slice(0, 5), ...lines.slice(4)], /line 6/],
    ['no beginning', ['{"seq":1,"at":1,"type":"later.thing"}'], /holds no session/],
    ['nothing', [], /holds no session/],
    [
      'an event that does not fit',
      [
        ...lines,
        JSON.stringify({ seq: lines.length + 1, at: 1, type: 'turn.ended', turnId: 'trn_99', outcome: 'completed' }),
      ],
      new RegExp(`line ${lines.length + 1}: the event turn.ended`),
    ],
    [
      'an event of one byte more than one may have',
      [...lines, tooLong(lines.length + 1)],
      new RegExp(`line ${lines.length + 1}`),
    ],
  ];
  for (const [what, changed, sentence] of cases) {
    const home = await temporaryHome();
    const error = await importLog(fileOf(home.home, changed), home).catch((thrown: unknown) => thrown);
    expect({ what, error }).toMatchObject({
      what,
      error: { code: 'invalid_params', message: expect.stringMatching(sentence) as string },
    });
    expect(existsSync(placeInHome(home, sessionIdOf(1)).log)).toBe(false);
    expect(readdirSync(home.sessions, { recursive: true }).filter((name) => String(name).endsWith('.zst'))).toEqual([]);
  }
});

function tooLong(seq: number): string {
  const event = { seq, at: 1, type: 'later.thing', text: '' };
  const room = maxEventBytes - JSON.stringify(event).length;
  return JSON.stringify({ ...event, text: 'x'.repeat(room + 1) });
}
