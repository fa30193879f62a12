import { openSync, readFileSync, writeSync, closeSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import { emptyConversation } from '#protocol/conversation/conversation.ts';
import type { ProjectId } from '#protocol/values/ids.ts';
import { openDatabase } from '../base/database.ts';
import type { HomePaths } from '../base/files.ts';
import { sessionIdOf, temporaryHome } from '../testing/temporary-home.ts';
import { Catalog, pageQuery } from './catalog.ts';
import { summarise, type RowFacts } from './summary.ts';

const facts: RowFacts = { defaultModel: () => 'scripted/demo', projectIdOf: (project) => project.projectId };

async function openIn(home: HomePaths): Promise<Catalog> {
  const catalog = await Catalog.open(home, facts);
  onTestFinished(() => {
    try {
      catalog.close();
    } catch {
      // The test has closed it.
    }
  });
  return catalog;
}

function row(number: number, updatedAt: number, projectId: string | null = null): SessionSummary {
  const now = { driver: 'idle' as const, problem: null, owner: null };
  const summary = summarise(sessionIdOf(number), emptyConversation, facts, now);
  return { ...summary, updatedAt, projectId: projectId as ProjectId | null, title: `${number} ${'x'.repeat(300)}` };
}

function pages(catalog: Catalog, limit: number, projectId?: string): string[] {
  const ids: string[] = [];
  for (let after: string | undefined; ;) {
    const { sessions, next } = catalog.list({
      hidden: [],
      limit,
      after,
      projectId: projectId as ProjectId | undefined,
    });
    ids.push(...sessions.map(({ sessionId }) => sessionId));
    if (next === null) return ids;
    after = next;
  }
}

test('pages hold each session once, newest activity first, also where many moved at the same time', async () => {
  const catalog = await openIn(await temporaryHome());
  for (let number = 1; number <= 50; number += 1) catalog.put(row(number, 1000 + (number % 3)), 10, number === 7);
  const wanted = Array.from({ length: 50 }, (_, at) => at + 1)
    .filter((number) => number !== 7)
    .toSorted((a, b) => (b % 3) - (a % 3) || a - b)
    .map(sessionIdOf);
  for (const limit of [1, 7, 49, 100]) expect(pages(catalog, limit)).toEqual(wanted);
});

test('a page begins by a search in the order of time, not by passing over the pages before it, and is not sorted', async () => {
  const home = await temporaryHome();
  await openIn(home);
  const database = openDatabase(home.index);
  onTestFinished(() => database.close());
  for (const options of [{}, { after: '1000 ses_x' }, { hidden: ['prj_1' as ProjectId] }]) {
    const { sql, values } = pageQuery({ hidden: [], limit: 100, ...options });
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    expect(plan.map(({ detail }) => detail)).toEqual(['SEARCH session USING INDEX by_time (updatedAt<?)']);
  }
});

test('a list can be of one project, or without those that were removed', async () => {
  const catalog = await openIn(await temporaryHome());
  for (let number = 1; number <= 6; number += 1) catalog.put(row(number, number, `prj_${number % 2}`), 10, false);
  expect(pages(catalog, 2, 'prj_1')).toEqual([5, 3, 1].map(sessionIdOf));
  const { sessions } = catalog.list({ hidden: ['prj_1' as ProjectId], limit: 10 });
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual([6, 4, 2].map(sessionIdOf));
});

test('RT1 a catalogue that is damaged deep inside is made anew when it is opened, not found out later', async () => {
  const home = await temporaryHome();
  const first = await openIn(home);
  for (let number = 1; number <= 300; number += 1) first.put(row(number, number), 10, false);
  first.close();
  const { length } = readFileSync(home.index);
  const pageSize = 4096;
  const made: number[] = [];
  for (let page = 3; page * pageSize < length; page += 5) {
    const file = openSync(home.index, 'r+');
    writeSync(file, Buffer.alloc(pageSize, 0xa5), 0, pageSize, page * pageSize);
    closeSync(file);
    const catalog = await openIn(home);
    const { length: rows } = pages(catalog, 100);
    made.push(rows);
    for (let number = 1; number <= 300; number += 1) catalog.put(row(number, number), 10, false);
    expect(pages(catalog, 100)).toHaveLength(300);
    catalog.close();
  }
  // A page that holds nothing just now hurts nothing.
  expect(made.filter((rows) => rows !== 300 && rows !== 0)).toEqual([]);
  expect(made.filter((rows) => rows === 0).length).toBeGreaterThan(made.length / 2);
});
