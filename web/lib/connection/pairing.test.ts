import { describe, expect, it } from 'vitest';
import { FakeDaemon } from '../testing/fake-daemon.ts';
import { memoryStorage } from '../testing/memory-storage.ts';
import { fingerprintOf } from './handshake.ts';
import { CredentialStore, deviceNameOf, jsonPost, pair, readPairingCode, takePairingLink } from './pairing.ts';

const daemon = new FakeDaemon();
const made = daemon.credentials;
const linkOf = async (from: FakeDaemon) => ({
  code: 'AAAAAAAAAAAAAAAAAAAAAA',
  machineId: from.machineId as string,
  fingerprint: (await fingerprintOf(from.credentials.publicKey)) ?? '',
});
const answering =
  (body: unknown, ok = true) =>
  () =>
    Promise.resolve({ ok, body });

describe('the link', () => {
  it('is read and erased from the history at once, code and all', () => {
    const shown: unknown[] = [];
    const history = { state: 1, replaceState: (...to: unknown[]) => void shown.push(to) };
    const location = { hash: '#pair=abc&machine=mac_1&key=xyz', pathname: '/', search: '?a' };
    expect(takePairingLink(location, history)).toEqual({ code: 'abc', machineId: 'mac_1', fingerprint: 'xyz' });
    expect(shown).toEqual([[1, '', '/?a']]);
  });

  it('that is not whole is erased too, and any other fragment stays', () => {
    const shown: unknown[] = [];
    const history = { state: null, replaceState: (...to: unknown[]) => void shown.push(to) };
    expect(takePairingLink({ hash: '#pair=abc', pathname: '/', search: '' }, history)).toBeNull();
    expect(takePairingLink({ hash: '#part', pathname: '/', search: '' }, history)).toBeNull();
    expect(shown).toHaveLength(1);
  });

  it.each([
    ['4a7f-xy9w', { type: 'typed', typed: '4A7FXY9W' }],
    [' 4A7F XY9W ', { type: 'typed', typed: '4A7FXY9W' }],
    ['AAAAAAAAAAAAAAAAAAAAAA', { type: 'code', code: 'AAAAAAAAAAAAAAAAAAAAAA' }],
    [
      'http://localhost:7717/#pair=abc&machine=mac_1&key=xyz',
      { type: 'link', link: { code: 'abc', machineId: 'mac_1', fingerprint: 'xyz' } },
    ],
    ['http://localhost:7717/#other', null],
    ['4A7F', null],
    ['', null],
  ])('%j is read as a code', (text, code) => {
    expect(readPairingCode(text)).toEqual(code);
  });
});

describe('pairing', () => {
  it('answers what the machine made for this browser', async () => {
    const sent: unknown[] = [];
    const post = (path: string, body: unknown) => {
      sent.push([path, body]);
      return Promise.resolve({ ok: true, body: made });
    };
    expect(await pair({ type: 'typed', typed: '4A7FXY9W' }, 'Firefox on Linux', post)).toEqual(made);
    expect(sent).toEqual([['/pair', { typed: '4A7FXY9W', name: 'Firefox on Linux' }]]);
  });

  it('by link accepts only the machine and the key that the link names', async () => {
    expect(await pair({ type: 'link', link: await linkOf(daemon) }, 'x', answering(made))).toEqual(made);
    const stranger = new FakeDaemon();
    await expect(pair({ type: 'link', link: await linkOf(stranger) }, 'x', answering(made))).rejects.toMatchObject({
      code: 'unauthorized',
    });
    const otherId = { ...(await linkOf(daemon)), machineId: 'mac_2' };
    await expect(pair({ type: 'link', link: otherId }, 'x', answering(made))).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  it("rejects with the daemon's own words, with words of ours where there are none", async () => {
    const refusal = { error: { message: 'This code was used.', data: { code: 'unauthorized' } } };
    await expect(pair({ type: 'code', code: 'x' }, 'x', answering(refusal, false))).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'This code was used.',
    });
    await expect(pair({ type: 'code', code: 'x' }, 'x', answering(null, false))).rejects.toThrow(/ask for a new one/i);
    await expect(pair({ type: 'code', code: 'x' }, 'x', answering({ token: 1 }))).rejects.toMatchObject({
      code: 'invalid_params',
    });
  });

  it('says when nobody answers, and takes a page that is not JSON for a refusal', async () => {
    const gone = jsonPost(() => Promise.reject(new TypeError('failed to fetch')));
    await expect(gone('/pair', {})).rejects.toMatchObject({ code: 'unavailable' });
    const page = jsonPost(() => Promise.resolve(new Response('<html>')));
    expect(await page('/pair', {})).toEqual({ ok: false, body: null });
  });
});

describe('tokens', () => {
  it('are kept by machine', () => {
    const store = new CredentialStore(memoryStorage());
    const other = new FakeDaemon(2).credentials;
    store.keep(made);
    store.keep(other);
    store.forget(other.machineId);
    expect([store.read(made.machineId), store.read(other.machineId)]).toEqual([made, null]);
  });

  it('of another form, or kept under a wrong name, are as if they were not there', () => {
    const storage = memoryStorage();
    storage.write(`credentials.${made.machineId}`, { token: 'x' });
    storage.write('credentials.mac_other', made);
    const store = new CredentialStore(storage);
    expect([store.read(made.machineId), store.read('mac_other')]).toEqual([null, null]);
  });

  it('that the browser does not keep are an error that says so', () => {
    const store = new CredentialStore({ read: () => null, write: () => false });
    expect(() => store.keep(made)).toThrow(/site data/);
  });
});

it.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    'Chrome on Linux',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1',
    'Safari on iPhone',
  ],
  [
    'Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge on Windows',
  ],
  ['curl/8', 'Browser'],
])('%s is called %s', (userAgent, name) => {
  expect(deviceNameOf(userAgent)).toBe(name);
});
