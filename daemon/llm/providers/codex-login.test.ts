/** PR3: the login of the Codex CLI is used as it lies there, renewed once for all who need it, written back whole, and said nowhere. */
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { responsesReply } from '../../testing/responses-server.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { bytes, errorReply, startWireServer, type Reply } from '../../testing/wire-server.ts';
import { aRequest, gather } from '../formats/contract.ts';
import { CodexLogin } from './codex-login.ts';
import { parseProviders } from './provider-settings.ts';
import { Providers } from './providers.ts';

const now = Date.parse('2026-12-01T10:00:00Z');
const token = (name: string, expiresInMs: number) =>
  `h.${Buffer.from(JSON.stringify({ exp: (now + expiresInMs) / 1000, name })).toString('base64url')}.${name}-signature`;
const hour = 3_600_000;
const old = token('old', hour);
const fresh = token('fresh', hour);

interface World {
  login?: Record<string, unknown> | string | null;
  /** Which token the model's address takes. */
  takes?: string;
  renewal?: (body: Record<string, unknown>) => Reply;
}

const json = (value: unknown): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  acts: [bytes(JSON.stringify(value))],
});

async function world({ login, takes = old, renewal }: World = {}) {
  const folder = temporaryFolder();
  const path = join(folder, 'auth.json');
  const kept = login === undefined ? loginWith(old) : login;
  if (kept !== null) writeFileSync(path, typeof kept === 'string' ? kept : JSON.stringify(kept), { mode: 0o600 });
  const server = await startWireServer<Record<string, unknown>>('', ({ path: asked, headers, body }) => {
    if (asked === '/oauth/token')
      return renewal?.(body) ?? json({ access_token: fresh, refresh_token: 'rt-second', id_token: 'id.second' });
    if (headers.authorization === `Bearer ${takes}`) return responsesReply({ text: 'hello' });
    return errorReply(401, { message: `expired: ${headers.authorization ?? ''}` });
  });
  onTestFinished(() => server.close());
  const secrets = new Set<string>();
  const open = () => {
    const environment = { CODEX_HOME: folder, CODEX_REFRESH_TOKEN_URL_OVERRIDE: `${server.url}/oauth/token` };
    const codex = new CodexLogin({
      environment,
      userHome: '',
      clock: { now: () => now },
      secret: (one) => void secrets.add(one),
    });
    const settings = { chatgpt: { format: 'openai-responses', baseUrl: `${server.url}/codex`, login: 'codex' } };
    const providers = new Providers({
      settings: parseProviders(settings).providers,
      environment: {},
      keys: { get: () => null },
      clock: { now: () => now },
      codex,
    });
    onTestFinished(() => providers.close());
    return providers;
  };
  const providers = open();
  const ask = async (with_ = providers) => {
    const found = with_.resolve('chatgpt/gpt-5-codex');
    if (found.type === 'unavailable') return { type: 'failed', failure: found.failure };
    return (await gather(found.client.stream({ ...aRequest(), model: found.model }, new AbortController().signal))).end;
  };
  const to = (asked: string) => server.requests.filter((one) => one.path === asked);
  return { folder, path, server, secrets, open, ask, to };
}

function loginWith(access: string): Record<string, unknown> {
  return {
    OPENAI_API_KEY: null,
    auth_mode: 'chatgpt',
    tokens: {
      id_token: 'id.first',
      access_token: access,
      refresh_token: 'rt-first',
      account_id: 'acc-1',
      more: 'kept',
    },
    last_refresh: '2026-11-01T00:00:00Z',
    something_new: { deep: true },
  };
}

test('PR3: a login that holds is used with its account, and its file is left alone', async () => {
  const { ask, server, path, secrets, to } = await world();
  const before = readFileSync(path, 'utf8');
  expect(await ask()).toMatchObject({ type: 'done' });
  expect(server.requests[0]).toMatchObject({
    path: '/codex/responses',
    headers: { authorization: `Bearer ${old}`, 'chatgpt-account-id': 'acc-1', originator: 'codex_cli_rs' },
    body: { model: 'gpt-5-codex', store: false, stream: true },
  });
  expect(to('/oauth/token')).toEqual([]);
  expect(readFileSync(path, 'utf8')).toBe(before);
  expect(secrets).toEqual(new Set([old, 'rt-first']));
});

test('PR3: a token that is refused is renewed once, written back whole for its owner alone, and the request repeated', async () => {
  const { ask, path, to } = await world({ takes: fresh });
  chmodSync(path, 0o644);
  expect(await ask()).toMatchObject({ type: 'done' });
  expect(to('/oauth/token').map((one) => one.body)).toEqual([
    {
      client_id: expect.stringContaining('app_') as string,
      grant_type: 'refresh_token',
      refresh_token: 'rt-first',
      scope: 'openid profile email',
    },
  ]);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    ...loginWith(fresh),
    tokens: {
      id_token: 'id.second',
      access_token: fresh,
      refresh_token: 'rt-second',
      account_id: 'acc-1',
      more: 'kept',
    },
    last_refresh: '2026-12-01T10:00:00.000Z',
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(to('/codex/responses')).toHaveLength(2);
});

test('PR3: a token that is about to expire is renewed before it is used', async () => {
  const { ask, to } = await world({ login: loginWith(token('old', 60_000)), takes: fresh });
  expect(await ask()).toMatchObject({ type: 'done' });
  expect(to('/oauth/token')).toHaveLength(1);
  expect(to('/codex/responses')).toHaveLength(1);
});

test('PR3: many sessions, of two daemons, renew it once', async () => {
  const { ask, open, to } = await world({ takes: fresh });
  const other = open();
  const ends = await Promise.all([ask(), ask(), ask(), ask(other), ask(other), ask(other)]);
  expect(ends.map((end) => end.type)).toEqual(Array.from({ length: 6 }, () => 'done'));
  expect(to('/oauth/token')).toHaveLength(1);
});

test('PR3: what the Codex CLI renewed meanwhile is taken, and not renewed again', async () => {
  const { ask, path, to, server } = await world({ takes: fresh });
  const asked = ask();
  await server.request(1);
  // The CLI wrote its own new token while our first request was on its way.
  writeFileSync(path, JSON.stringify(loginWith(fresh)));
  expect(await asked).toMatchObject({ type: 'done' });
  expect(to('/oauth/token')).toHaveLength(0);
});

test('PR3: a renewal that is refused names codex login, and keeps the file and the secrets', async () => {
  const { ask, path, to } = await world({
    takes: 'nothing',
    renewal: (body) => errorReply(400, { message: `no such token ${String(body['refresh_token'])}` }),
  });
  const before = readFileSync(path, 'utf8');
  const end = await ask();
  expect(end).toMatchObject({ type: 'failed', failure: { code: 'unauthorized' } });
  expect(JSON.stringify(end)).toContain('codex login');
  for (const secret of ['rt-first', old]) expect(JSON.stringify(end)).not.toContain(secret);
  expect(readFileSync(path, 'utf8')).toBe(before);
  expect(to('/codex/responses')).toHaveLength(1);
});

test('PR3: a new token that is refused too is the end: one renewal, one repeat, and no token in the words', async () => {
  const { ask, to } = await world({ takes: 'nothing' });
  const end = await ask();
  expect(end).toMatchObject({ type: 'failed', failure: { code: 'unauthorized' }, retryable: false });
  expect(JSON.stringify(end)).not.toContain(fresh);
  expect(to('/oauth/token')).toHaveLength(1);
  expect(to('/codex/responses')).toHaveLength(2);
});

test.each([
  ['is missing', null],
  ['is no JSON', '{ "tokens":'],
  ['holds a key alone', { OPENAI_API_KEY: 'sk-x' }],
])('PR3: a login that %s is said to be so, and nothing is asked', async (_, login) => {
  const { ask, server } = await world({ login });
  const end = await ask();
  expect(end).toMatchObject({ type: 'failed', failure: { code: 'unauthorized' } });
  expect(JSON.stringify(end)).toContain('codex login');
  expect(server.requests).toHaveLength(0);
});

test('PR3: a login file that is a link stays one', async () => {
  const elsewhere = temporaryFolder();
  const { ask, path } = await world({ login: null, takes: fresh });
  writeFileSync(join(elsewhere, 'codex.json'), JSON.stringify(loginWith(old)));
  symlinkSync(join(elsewhere, 'codex.json'), path);
  expect(await ask()).toMatchObject({ type: 'done' });
  expect(readFileSync(join(elsewhere, 'codex.json'), 'utf8')).toContain(fresh);
});
