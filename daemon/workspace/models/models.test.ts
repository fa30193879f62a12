/** Which model is taken, what can be chosen, and what a name that nobody knows meant. */
import { readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { openModelAccess } from '../../model-access.ts';
import { startJsonServer } from '../../testing/json-server.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { whichModel } from './which-model.ts';

async function open(given: { settings?: object | string; environment?: Record<string, string> } = {}) {
  const home = temporaryFolder();
  const file = join(home, 'settings.json');
  const { settings } = given;
  if (settings !== undefined) writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify(settings));
  let changes = 0;
  const access = await openModelAccess({
    home,
    environment: { ALCOVE_LOCAL_SERVERS: 'off', ...given.environment },
    clock: systemClock,
    secret: () => undefined,
    changed: () => void (changes += 1),
  });
  onTestFinished(() => access.close());
  return { ...access, file, changes: () => changes };
}

const row = { format: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1', models: ['first', 'second'] };

test.each([
  ['flag', 'flag', 'session', 'environment', 'settings'],
  ['session', null, 'session', 'environment', 'settings'],
  ['environment', null, null, 'environment', 'settings'],
  ['settings', null, null, null, 'settings'],
  ['fallback', null, null, null, null],
  ['flag', 'flag', null, null, null],
  ['session', null, 'session', null, null],
])(
  '%s is taken of flag %s, session %s, environment %s, settings %s (PR5)',
  (taken, flag, session, environment, settings) => {
    expect(whichModel({ flag, session, environment, settings, fallback: 'fallback' })).toBe(taken);
  },
);

test('all five levels, as a run meets them (PR5)', async () => {
  const settings = { model: 'mine/second', providers: { mine: row } };
  const environment = { ALCOVE_MODEL: 'mine/env' };
  const all = await open({ settings, environment });
  expect(await all.models.choice('mine/flag', 'mine/session')).toBe('mine/flag');
  expect(await all.models.choice(null, 'mine/session')).toBe('mine/session');
  expect(await all.models.choice(null, null)).toBe('mine/env');
  expect(await (await open({ settings })).models.choice(null, null)).toBe('mine/second');
  expect(await (await open({ settings: { providers: { mine: row } } })).models.choice(null, null)).toBe('mine/first');
  expect(await (await open()).models.choice(null, null)).toBe('offline/demo');
  const keyed = await open({ environment: { OPENAI_API_KEY: 'sk-test' } });
  expect(await keyed.models.choice(null, null)).toBe('openai/gpt-5');
});

test('ALCOVE_MODEL that is no name is left out, and said', async () => {
  const { models, problems } = await open({ environment: { ALCOVE_MODEL: 'two words' } });
  expect(await models.choice(null, null)).toBe('offline/demo');
  expect(problems).toEqual(['ALCOVE_MODEL is left out: it takes the name of a model, such as offline/demo.']);
});

test('a server that was found is offered and never taken by itself', async () => {
  const server = await startJsonServer((path) =>
    path === '/api/tags' ? { body: { models: [{ name: 'qwen3:8b' }] } } : { status: 404 },
  );
  onTestFinished(() => server.close());
  const { models, connections } = await open({ environment: { ALCOVE_LOCAL_SERVERS: server.url } });
  expect((await models.list()).map(({ name, shortlisted }) => [name, shortlisted])).toEqual([
    ['ollama/qwen3:8b', true],
    ['offline/demo', true],
  ]);
  expect(models.default).toBe('offline/demo');
  expect(await models.choice(null, null)).toBe('offline/demo');
  expect(await models.resolve('ollama/qwen3:8b')).toMatchObject({ model: 'qwen3:8b', efforts: null, price: null });
  expect((await connections.list()).at(-1)).toMatchObject({
    name: 'ollama',
    origin: 'found',
    connected: true,
    models: 1,
  });
});

test('a model that was chosen stands in the settings file, beside all that stood there, and is told', async () => {
  const written = '{\n    "note": "mine",\n    "providers": {},\n    "model": "a/b"\n}\n';
  const { models, file, changes } = await open({ settings: written });
  await models.choose('offline/demo');
  expect(readFileSync(file, 'utf8')).toBe(written.replace('a/b', 'offline/demo'));
  expect(models.default).toBe('offline/demo');
  expect(changes()).toBe(1);
  const fresh = await open();
  await fresh.models.choose('new/one');
  expect(JSON.parse(readFileSync(fresh.file, 'utf8'))).toEqual({ model: 'new/one' });
});

test.each(['{ "model": ', '[1]'])('settings that are %s are not overwritten by a choice', async (text) => {
  const { models, file } = await open({ settings: text });
  await expect(models.choose('offline/demo')).rejects.toMatchObject({ code: 'conflict' });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('a settings file that is a link stays one', async () => {
  const { models, file } = await open();
  const elsewhere = join(temporaryFolder(), 'alcove.json');
  writeFileSync(elsewhere, '{}');
  symlinkSync(elsewhere, file);
  await models.choose('offline/demo');
  expect(readlinkSync(file)).toBe(elsewhere);
  expect(JSON.parse(readFileSync(elsewhere, 'utf8'))).toEqual({ model: 'offline/demo' });
});

test('a choice that the environment would overrule is refused with the reason', async () => {
  const { models } = await open({ environment: { ALCOVE_MODEL: 'offline/demo' } });
  await expect(models.choose('a/b')).rejects.toMatchObject({ code: 'unavailable' });
});

test('a name that nobody knows comes with the one that was meant (PR11)', async () => {
  const { models } = await open({ settings: { providers: { mine: row, bare: { ...row, models: [] } } } });
  const nearest = 'anthropic/claude-sonnet-4-20250514';
  expect(await models.meant('anthropic/claude-sonet-4')).toEqual({ known: false, nearest });
  expect(await models.meant('mine/frist')).toEqual({ known: false, nearest: 'mine/first' });
  expect(await models.meant('mine/first')).toEqual({ known: true, nearest: null });
  expect(await models.meant('bare/anything')).toEqual({ known: true, nearest: null });
});

test('a list says what is known and null for the rest; what needs a key says so', async () => {
  const priced = { id: 'priced', contextWindow: 8000, price: { input: 1, output: 2 }, efforts: ['high', 'low'] };
  const { models } = await open({
    settings: { providers: { mine: { ...row, models: ['bare', priced] }, keyed: { ...row, keyEnv: 'SOME_KEY' } } },
  });
  const list = await models.list();
  expect(list[0]).toEqual({
    name: 'mine/bare',
    label: 'bare',
    provider: 'mine',
    providerLabel: 'mine',
    available: true,
    reason: null,
    shortlisted: true,
    contextWindow: null,
    maxOutput: null,
    price: null,
    efforts: null,
    pictures: null,
  });
  expect(list[1]).toMatchObject({
    contextWindow: 8000,
    price: { input: 1, output: 2, cacheRead: null, cacheWrite: null },
    efforts: ['low', 'high'],
  });
  const keyed = list.filter(({ provider }) => provider === 'keyed');
  expect(keyed.map(({ available, reason }) => [available, reason?.includes('SOME_KEY')])).toEqual([
    [false, true],
    [false, true],
  ]);
});

test('PR9: a name as people say it is routed where it is said, and what a session has stays as it is', async () => {
  const { models } = await open({
    settings: {
      model: 'fast',
      subAgentModel: 'claude-haiku-4-5',
      aliases: { fast: 'mine/first' },
      providers: { mine: row },
    },
  });
  expect(models.default).toBe('mine/first');
  expect(models.subAgentModel).toBe('anthropic/claude-haiku-4-5');
  expect(await models.choice('gpt-5', null)).toBe('openai/gpt-5');
  expect(await models.choice('qwen3:8b', null)).toBe('ollama/qwen3:8b');
  expect(await models.choice(null, 'gone/model')).toBe('gone/model');
  // Without an OpenRouter to take it, the name stays, and is said to be unknown.
  expect(await models.choice('antropic/claude', null)).toBe('antropic/claude');
  const router = await open({ environment: { OPENROUTER_API_KEY: 'sk-or-test' } });
  expect(await router.models.choice('mistralai/mistral-large', null)).toBe('openrouter/mistralai/mistral-large');
  expect((await router.models.resolve('gone/model')) as object).toHaveProperty('failure');
});

test('a model that is chosen by its alias stands in the settings in full', async () => {
  const { models, file } = await open({ settings: { aliases: { fast: 'mine/first' }, providers: { mine: row } } });
  await models.choose('fast');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ model: 'mine/first' });
});
