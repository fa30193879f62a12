/** Keys, providers and models as a person meets them: against providers on loopback, with a home of the test's own. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from './base/clock.ts';
import { aRequest, gather } from './llm/formats/contract.ts';
import { openModelAccess, type ModelAccess } from './model-access.ts';
import { chatReply, startOpenAiServer } from './testing/openai-server.ts';
import { startJsonServer, type JsonAnswer, type JsonServer } from './testing/json-server.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { scrubEnvironment } from './tools/process-environment.ts';

const goodKey = 'sk-good-0123456789';
const list = { object: 'list', data: [{ id: 'gpt-new', created: 1_790_000_000 }, { id: 'text-embedding-9' }] };

interface Opened {
  access: ModelAccess;
  home: string;
  secrets: string[];
  changes: () => number;
}

async function open(
  given: { settings?: object | string; environment?: Record<string, string>; home?: string } = {},
): Promise<Opened> {
  const home = given.home ?? temporaryFolder();
  const { settings } = given;
  if (settings !== undefined)
    writeFileSync(join(home, 'settings.json'), typeof settings === 'string' ? settings : JSON.stringify(settings));
  const secrets: string[] = [];
  let changes = 0;
  const access = await openModelAccess({
    home,
    environment: { ALCOVE_LOCAL_SERVERS: 'off', ...given.environment },
    clock: systemClock,
    secret: (key) => void secrets.push(key),
    changed: () => void (changes += 1),
  });
  onTestFinished(() => access.close());
  return { access, home, secrets, changes: () => changes };
}

async function provider(answer: (path: string, key: string | undefined) => JsonAnswer = keyed): Promise<JsonServer> {
  const server = await startJsonServer((path, headers) => answer(path, headers.authorization?.replace('Bearer ', '')));
  onTestFinished(() => server.close());
  return server;
}

/** A provider that knows one key. */
function keyed(_path: string, key: string | undefined): JsonAnswer {
  if (key === goodKey) return { body: list };
  return { status: 401, body: { error: { message: `Incorrect API key provided: ${key ?? 'none'}` } } };
}

function settingsOf(url: string, more: object = {}): object {
  return { providers: { work: { format: 'openai-chat', baseUrl: `${url}/v1`, keyEnv: 'WORK_KEY', ...more } } };
}

test('a key is tried with the provider, kept for its owner alone, and its models are offered (PR14)', async () => {
  const server = await provider();
  const { access, home, secrets, changes } = await open({ settings: settingsOf(server.url) });
  const end = await access.connections.connect('work', ` ${goodKey}\n`, false);
  expect(end).toMatchObject({
    answer: 'accepted',
    stored: true,
    message: 'work accepted the key. It lists 2 models.',
    provider: { name: 'work', origin: 'settings', connected: true, reason: null, models: 1, key: { from: 'stored' } },
  });
  expect(JSON.stringify(end)).not.toContain(goodKey);
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/models']);
  expect(statSync(join(home, 'keys.json')).mode & 0o777).toBe(0o600);
  expect(secrets).toContain(goodKey);
  expect(changes()).toBeGreaterThan(0);
  const choice = (await access.models.list()).find((one) => one.name === 'work/gpt-new');
  expect(choice).toMatchObject({ available: true, shortlisted: true, contextWindow: null, price: null, efforts: null });
});

test('a refused key is not kept, and the words of the provider are told, without the key (PR14)', async () => {
  const server = await provider();
  const { access, home } = await open({ settings: settingsOf(server.url) });
  const end = await access.connections.connect('work', 'sk-wrong-0123456789', true);
  expect(end).toMatchObject({
    answer: 'refused',
    stored: false,
    message: 'work did not accept the key (401). It said: “Incorrect API key provided: [key]”',
    provider: { connected: false, key: { from: null, variable: 'WORK_KEY' } },
  });
  expect(existsSync(join(home, 'keys.json'))).toBe(false);
});

test('a blank key tries the one that is there and keeps it; disconnecting deletes it, the environment stays (PR14)', async () => {
  const server = await provider();
  const settings = settingsOf(server.url);
  const { access, home } = await open({ settings, environment: { WORK_KEY: 'sk-of-the-environment' } });
  expect(await access.connections.connect('work', '', false)).toMatchObject({ answer: 'refused', stored: false });
  await access.connections.connect('work', goodKey, false);
  expect(await access.connections.connect('work', '', false)).toMatchObject({ answer: 'accepted', stored: true });
  expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${goodKey}`);
  const gone = await access.connections.disconnect('work');
  expect(gone).toMatchObject({ connected: true, key: { from: 'environment', variable: 'WORK_KEY' } });
  expect(readFileSync(join(home, 'keys.json'), 'utf8')).not.toContain(goodKey);
});

test('a blank key where there is none is asked for, with the page where keys are made', async () => {
  const { access } = await open();
  await expect(access.connections.connect('openai', ' ', false)).rejects.toMatchObject({
    code: 'invalid_params',
    message: 'There is no key of OpenAI yet. Paste one; they are made at https://platform.openai.com/api-keys.',
  });
  await expect(access.connections.connect('opnai', 'x', false)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('Did you mean “openai”?') as string,
  });
  await expect(access.connections.connect('openai', 'two words', false)).rejects.toMatchObject({
    code: 'invalid_params',
  });
});

test.each<[string, JsonAnswer, string]>([
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.test/x' } }, 'a redirect to elsewhere.test'],
  ['a failing provider', { status: 503, body: { error: { message: 'overloaded' } } }, 'It said: “overloaded”'],
  [
    'a page in between',
    { body: '<html>Please sign in</html>', headers: { 'content-type': 'text/html' } },
    'something else',
  ],
])('%s is no verdict on the key: it is kept only where the person says so (PR14)', async (_, answer, words) => {
  const server = await provider(() => answer);
  const { access } = await open({ settings: settingsOf(server.url) });
  const end = await access.connections.connect('work', goodKey, false);
  expect(end).toMatchObject({
    answer: 'unreachable',
    stored: false,
    message: expect.stringContaining(words) as string,
  });
  expect(await access.connections.connect('work', goodKey, true)).toMatchObject({
    answer: 'unreachable',
    stored: true,
  });
});

test('a stored key goes to the address it was given for and to no other, whatever the settings say later', async () => {
  const server = await provider();
  const other = await provider(() => ({ body: list }));
  const { access, home } = await open({ settings: settingsOf(server.url) });
  await access.connections.connect('work', goodKey, false);
  await access.close();
  const later = await open({ home, settings: settingsOf(other.url) });
  expect(await later.access.connections.list()).toContainEqual(
    expect.objectContaining({ name: 'work', connected: false }) as unknown,
  );
  await expect(later.access.connections.connect('work', '', false)).rejects.toMatchObject({ code: 'invalid_params' });
  expect(other.requests).toEqual([]);
});

test("a known vendor's variable connects it; a gateway of its name does not get the vendor's key", async () => {
  const environment = { ANTHROPIC_API_KEY: 'sk-ant-0123456789' };
  const { access } = await open({ environment });
  const shown = (await access.connections.list()).find((one) => one.name === 'anthropic');
  expect(shown).toMatchObject({ connected: true, origin: 'known', key: { from: 'environment' } });
  expect(shown?.models).toBeGreaterThan(3);
  const gateway = { format: 'anthropic-messages', baseUrl: 'http://127.0.0.1:9/' };
  const through = await open({ environment, settings: { providers: { anthropic: gateway } } });
  const row = (await through.access.connections.list()).find((one) => one.name === 'anthropic');
  expect(row).toMatchObject({ origin: 'settings', key: { needed: false, from: null, variable: null } });
});

test('no variable of a known vendor, and none that holds a key under another name, reaches a tool (PM13)', async () => {
  const server = await provider();
  const environment = {
    MISTRAL_API_KEY: 'm-1',
    ZHIPU_API_KEY: 'z-1',
    WORK_KEY: 'w-1',
    MY_COPY: goodKey,
    OTHER_COPY: 'w-1',
    PATH: '/bin',
  };
  const { access } = await open({ settings: settingsOf(server.url), environment });
  await access.connections.connect('work', goodKey, false);
  expect(scrubEnvironment(environment, access.models.keyNames)).toEqual({ PATH: '/bin' });
});

test('after another key was connected no connection with the old one is left, and after close none at all (PR30)', async () => {
  const keys = [goodKey, 'sk-second-0123456789'];
  const chat = await startOpenAiServer();
  onTestFinished(() => chat.close());
  // One address for the trial and the replies: the trial's path is a GET that the script answers too.
  const { access } = await open({ settings: settingsOf(chat.url.replace('/v1', '')) });
  const listing = {
    status: 200,
    headers: { 'content-type': 'application/json' },
    acts: [{ act: 'bytes' as const, bytes: Buffer.from(JSON.stringify(list)) }],
  };
  const say = async () => {
    const resolved = await access.models.resolve('work/m');
    if ('failure' in resolved) throw new Error(resolved.failure.message);
    chat.enqueue(chatReply({ text: 'hi' }));
    expect((await gather(resolved.client.stream(aRequest(), new AbortController().signal))).text).toBe('hi');
    return chat.requests.at(-1)?.headers.authorization;
  };
  chat.enqueue(listing);
  await access.connections.connect('work', keys[0]!, false);
  expect(await say()).toBe(`Bearer ${keys[0]!}`);
  expect(chat.connections).toBe(1);
  chat.enqueue(listing);
  await access.connections.connect('work', keys[1]!, false);
  await chat.quiet();
  expect(await say()).toBe(`Bearer ${keys[1]!}`);
  await access.close();
  await chat.quiet();
});
