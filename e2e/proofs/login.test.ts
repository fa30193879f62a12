/**
 * Providers, keys and models on the command line, by the whole program: a key goes in where its provider accepts it and nowhere else, comes
 * out by a word, and never shows; the list of models says what is known and what is not, and a name that is written wrong is said to be.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startJsonServer, type JsonAnswer } from '../../daemon/testing/json-server.ts';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { canMount, SmallDisk } from '../support/mounts.ts';
import { House } from './house.ts';

const badKey = 'sk-proof-bad-1111';
const goodKey = 'sk-proof-good-2222';
const betterKey = 'sk-proof-better-3333';
const anyKey = /sk-proof-(bad|good|better)/;

/** A house with a provider "work" that knows two keys, lists two models, and hands out a catalogue at its root. */
async function withVendor(placeHome?: (home: string) => void) {
  const vendor = await startJsonServer((path, { authorization }) =>
    authorization === `Bearer ${goodKey}` || authorization === `Bearer ${betterKey}`
      ? { body: { object: 'list', data: [{ id: 'fern-1' }, { id: 'fern-2' }] } }
      : path === '/'
        ? { body: { openai: { models: { 'fern-9': { tool_call: true } } } } }
        : { status: 401, body: { error: { message: 'This key opens nothing.' } } },
  );
  onTestFinished(() => vendor.close());
  const house = await House.open(undefined, placeHome);
  await configure(house, { work: { format: 'openai-chat', baseUrl: `${vendor.url}/v1`, keyEnv: 'WORK_KEY' } });
  return { house, vendor, keys: join(house.home, 'keys.json') };
}

async function configure(house: House, providers: object): Promise<void> {
  await writeFile(join(house.home, 'settings.json'), JSON.stringify({ providers }), { mode: 0o600 });
}

const textOf = (file: string) => readFile(file, 'utf8').catch(() => '');

describe.each([
  ['without a daemon', false],
  ['through the daemon that runs', true],
])('keys, %s', (_, running) => {
  async function open() {
    const opened = await withVendor();
    if (running) await opened.house.daemon.start();
    const verb = (words: readonly string[], input = '') => opened.house.alcove(words, { input }).ended();
    return { ...opened, verb };
  }

  it('PR14: a bad key is refused in the words of the provider, and nothing is stored', async () => {
    const { house, vendor, keys, verb } = await open();
    const run = await verb(['login', 'work'], `${badKey}\n`);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain('work did not accept the key (401). It said: “This key opens nothing.”');
    expect(vendor.requests.at(-1)?.headers.authorization).toBe(`Bearer ${badKey}`);
    expect(await textOf(keys)).not.toMatch(anyKey);
    expect((await verb(['login'])).stdout).toMatch(/^work .*not connected/m);
    expect(run.stderr + house.daemon.output).not.toMatch(anyKey);
  });

  it('PR14: a good key is stored for its owner alone and never printed; its models can be used at once', async () => {
    const { house, keys, verb } = await open();
    const run = await verb(['login', 'work'], `  ${goodKey}\r\n`);
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('work accepted the key. It lists 2 models.');
    expect((await stat(keys)).mode & 0o777).toBe(0o600);
    expect(await textOf(keys)).toContain(`"${goodKey}"`);
    const list = await verb(['login']);
    expect(list.stdout).toMatch(/^work +work +2 models +key kept by Alcove$/m);
    const models = await verb(['models', 'fern']);
    expect(models.stdout).toMatch(/work\/fern-1 .*\n.*work\/fern-2 /);
    const printed = [run, list, models].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(printed + house.daemon.output).not.toMatch(anyKey);
  });

  it('PR14: blank tries the key that is there and keeps it, a bad one leaves it, a better one takes its place', async () => {
    const { vendor, keys, verb } = await open();
    await verb(['login', 'work'], goodKey);
    const before = await textOf(keys);

    const blank = await verb(['login', 'work'], '\n');
    expect(blank.code).toBe(0);
    expect(vendor.requests.at(-1)?.headers.authorization).toBe(`Bearer ${goodKey}`);
    expect(await textOf(keys)).toBe(before);

    expect((await verb(['login', 'work'], badKey)).code).toBe(1);
    expect(await textOf(keys)).toBe(before);

    expect((await verb(['login', 'work'], betterKey)).code).toBe(0);
    expect(await textOf(keys)).toContain(betterKey);
    expect(await textOf(keys)).not.toContain(goodKey);
  });

  it('PR14: blank where there is no key asks for one and stores nothing', async () => {
    const { vendor, keys, verb } = await open();
    const run = await verb(['login', 'work']);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/^alcove: There is no key of work yet\./);
    expect(vendor.requests).toEqual([]);
    expect(await textOf(keys)).toBe('');
  });

  it('PR14: a key that cannot be tried is kept only where that is asked for', async () => {
    const { vendor, keys, verb } = await open();
    await vendor.close();
    const run = await verb(['login', 'work'], goodKey);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/work cannot be reached \(ECONNREFUSED\)\. .*alcove login work --untried/);
    expect(await textOf(keys)).not.toMatch(anyKey);
    expect((await verb(['login', 'work', '--untried'], goodKey)).stderr).toContain('It is kept untried.');
    expect(await textOf(keys)).toContain(goodKey);
  });

  it('PR14: logging out deletes the key', async () => {
    const { keys, verb } = await open();
    await verb(['login', 'work'], goodKey);
    const run = await verb(['logout', 'work']);
    expect(run).toMatchObject({ code: 0, stdout: 'No key of work is kept by Alcove any more.\n', stderr: '' });
    expect(await textOf(keys)).not.toMatch(anyKey);
    expect((await verb(['login'])).stdout).toMatch(/^work .*not connected/m);
  });

  it('PR14: logging out of a provider that is in the settings no more deletes its key, too', async () => {
    const { house, keys, verb } = await open();
    await verb(['login', 'work'], goodKey);
    await configure(house, {});
    const run = await verb(['logout', 'work']);
    expect(run).toMatchObject({ code: 0, stdout: 'No key of work is kept by Alcove any more.\n' });
    expect(await textOf(keys)).not.toMatch(anyKey);
    expect(await verb(['logout', 'work'])).toMatchObject({ code: 2, stdout: '' });
  });

  it.each(['login', 'logout'])(
    'PR14: %s of a provider that is not known is wrong usage, and names the nearest',
    async (word) => {
      const { vendor, verb } = await open();
      const run = await verb([word, 'wrok'], goodKey);
      expect(run).toMatchObject({ code: 2, stdout: '' });
      expect(run.stderr).toContain('alcove: No provider is called “wrok”. Did you mean “work”?');
      expect(run.stderr).not.toMatch(anyKey);
      expect(vendor.requests).toEqual([]);
    },
  );
});

describe.skipIf(!canMount)('a disk that is full (skipped where nobody may mount)', () => {
  it.each([
    ['without a daemon', false],
    ['through the daemon that runs', true],
  ])('PR14: %s, keys are neither taken nor deleted, which is said with what to do', async (_, running) => {
    const disks: SmallDisk[] = [];
    const { house, vendor, keys } = await withVendor((home) => {
      const disk = new SmallDisk(home, 4 * 1024 * 1024);
      onTestFinished(() => disk.unmount());
      disks.push(disk);
    });
    if (running) await house.daemon.start();
    const verb = (words: readonly string[], input = '') => house.alcove(words, { input }).ended();
    expect((await verb(['login', 'work'], goodKey)).code).toBe(0);
    disks[0]?.fill();
    const tries = [
      await verb(['login', 'work'], betterKey),
      await verb(['logout', 'work']),
      await verb(['models', '--refresh', vendor.url]),
      await verb(['run', '--model', 'offline/demo', 'Hello.']),
    ];
    for (const one of tries) {
      expect(one).toMatchObject({ code: 1, stdout: '' });
      expect(one.stderr).toMatch(/^alcove: .*make space and try again\.\n$/i);
    }
    expect(await textOf(keys)).toContain(goodKey);
    disks[0]?.makeSpace();
    expect((await verb(['login', 'work'], betterKey)).code).toBe(0);
    expect(await textOf(keys)).toContain(betterKey);
  });
});

describe('a settings file with a mistake', () => {
  it.each([
    [
      'that is not JSON',
      '{ "providers": {',
      /settings\.json could not be read \(.*\); the settings before are in force\./,
    ],
    [
      'of an unknown format',
      '{ "providers": { "work": { "format": "openai-chta", "baseUrl": "http://127.0.0.1:9/v1" } } }',
      /providers\.work is left out: .*expected openai-chat/,
    ],
    [
      'of a misspelt field',
      '{ "providers": { "work": { "format": "openai-chat", "baseURL": "http://127.0.0.1:9/v1" } } }',
      /providers\.work is left out: .*baseUrl/,
    ],
  ])(
    'PR4: %s is told by every verb that asks for models, while the daemon runs and without it',
    async (_, text, words) => {
      const house = await House.open();
      await house.daemon.start();
      await writeFile(join(house.home, 'settings.json'), text);
      for (const verb of ['models', 'login']) expect((await house.alcove([verb]).ended()).stderr, verb).toMatch(words);
      const { problems } = await house.daemon.call('model.list', {});
      expect(problems.join()).toMatch(words);
      await house.daemon.stop();
      const alone = /could not be read/.test(String(words))
        ? /could not be read .*; nothing of it is in force\./
        : words;
      for (const verb of [['models'], ['login'], ['run', 'hi', '--model', 'nowhere/none']])
        expect((await house.alcove(verb).ended()).stderr, verb[0]).toMatch(alone);
    },
  );
});

it('a reader that has seen enough ends a list without a word', async () => {
  const house = await House.open();
  const run = house.alcove(['login']);
  run.child.stdout?.destroy();
  expect((await run.ended()).stderr).toBe('');
});

describe('the list of models', () => {
  const known = (name: string, input: number) => ({
    name,
    tool_call: true,
    release_date: '2026-01-01',
    modalities: { input: ['text'], output: ['text'] },
    limit: { context: 123_000, output: 8000 },
    cost: { input, output: 6 },
  });

  it('PR13: says window and prices where they are known, and “unknown” where they are not', async () => {
    const house = await House.open();
    const priced = { id: 'priced', contextWindow: 200_000, price: { input: 1.5, output: 6 } };
    const free = { id: 'free', contextWindow: 2_000_000, price: { input: 0, output: 0 } };
    const models = [priced, free, 'strange'];
    await configure(house, { loopback: { format: 'openai-chat', baseUrl: house.provider.url, models } });
    const { code, stdout } = await house.alcove(['models']).ended();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\* loopback\/priced +200k window +\$1\.5 in, \$6 out$/m);
    expect(stdout).toMatch(/^ {2}loopback\/free +2M window +free$/m);
    expect(stdout).toMatch(/^ {2}loopback\/strange +window unknown +price unknown$/m);
    const none = await house.alcove(['models', 'zzzz']).ended();
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toContain('No model matches “zzzz”.');
    expect(house.provider.requests).toEqual([]);
  });

  it('PR13: takes a catalogue from an address that is named, and keeps it where the next one is none', async () => {
    const answers: JsonAnswer[] = [
      { body: { openai: { models: { 'fern-9': known('Fern 9', 1.25) } } } },
      { body: '<html>Sign in to this network</html>' },
      { body: { error: 'moved' } },
      { status: 503, body: {} },
      { body: { openai: { models: { 'fern-9': known('Fern 9', 2.5) } } } },
    ];
    const server = await startJsonServer(() => answers.shift() ?? { status: 500 });
    onTestFinished(() => server.close());
    const house = await House.open();
    const environment = { OPENAI_API_KEY: 'sk-proof-never-sent' };
    const models = (...words: string[]) => house.alcove(['models', 'openai', ...words], { environment }).ended();
    const fern = /openai\/fern-9 +123k window +\$1\.25 in, \$6 out/;

    const bundled = await models();
    expect(bundled.stdout).toMatch(/openai\/gpt-/);
    expect(bundled.stdout).not.toMatch(/fern-9/);
    expect(server.requests).toEqual([]);

    const fetched = await models('--refresh', server.url);
    expect(fetched.code).toBe(0);
    expect(fetched.stderr).toBe(`The catalogue is new: 1 model of the known vendors, from ${server.url}.\n`);
    expect(fetched.stdout).toMatch(fern);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();

    for (const words of [/is not JSON/, /is no catalogue of models/, /answered 503/]) {
      const refused = await models('--refresh', server.url);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(words);
      expect(refused.stderr).toMatch(/^alcove: .*before stays in force\.\n$/);
      expect((await models()).stdout).toMatch(fern);
    }
    expect((await models('--refresh', server.url)).stdout).toMatch(/fern-9 .*\$2\.5 in/);

    await server.close();
    const away = await models('--refresh', server.url);
    expect(away).toMatchObject({ code: 1, stdout: '' });
    expect(away.stderr).toMatch(/could not be fetched .*ECONNREFUSED/);
    expect((await models()).stdout).toMatch(/fern-9 .*\$2\.5 in/);
    const nowhere = await models('--refresh', 'fern');
    expect(nowhere).toMatchObject({ code: 1, stdout: '' });
    expect(nowhere.stderr).toContain('fern is no address of a catalogue');
  });
});

describe('a model that is named for one run', () => {
  it('PR11: is said to be written wrong, with the nearest name, and is tried all the same', async () => {
    const house = await House.open();
    house.provider.enqueue(chatReply({ text: 'New here.' }), chatReply({ text: 'Old here.' }));
    const run = await house.alcove(['run', '--model', 'loopback/scritped', 'Who are you?']).ended();
    expect(run).toMatchObject({ code: 0, stdout: 'New here.\n' });
    expect(run.stderr).toContain('did you mean loopback/scripted?');
    expect(house.provider.requests[0]?.body.model).toBe('scritped');
    const right = await house.alcove(['run', '--model', 'loopback/scripted', 'Who are you?']).ended();
    expect(right).toMatchObject({ code: 0, stdout: 'Old here.\n', stderr: '' });
  });

  it('PR7: an effort that it does not take is refused before anything is asked or kept', async () => {
    const house = await House.open();
    const models = [
      { id: 'plain', efforts: [] },
      { id: 'thinker', efforts: ['low', 'high'] },
    ];
    await configure(house, { loopback: { format: 'openai-chat', baseUrl: house.provider.url, models } });
    const run = (model: string, effort: string) =>
      house.alcove(['run', '--model', `loopback/${model}`, '--effort', effort, 'Think.']).ended();

    const plain = await run('plain', 'high');
    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr).toContain('loopback/plain does not take the effort “high”. It takes none.');
    const thinker = await run('thinker', 'xhigh');
    expect(thinker).toMatchObject({ code: 1, stdout: '' });
    expect(thinker.stderr).toContain('It takes low or high.');
    expect(house.provider.requests).toEqual([]);
    expect(await house.alcove(['session', 'list']).ended()).toMatchObject({
      stdout: expect.not.stringContaining('ses_'),
    });

    house.provider.enqueue(chatReply({ text: 'Thought.' }));
    expect(await run('thinker', 'high')).toMatchObject({ code: 0, stdout: 'Thought.\n' });
    expect(house.provider.requests[0]?.body.reasoning_effort).toBe('high');
  });
});
