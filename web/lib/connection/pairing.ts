/**
 * How this browser becomes a device of a machine, and where what it got is kept. A pairing link carries a one-time code in its fragment,
 * which no server sees; it is erased from the history before anything else. The answer to the code is the device token, kept by machine,
 * as several machines may stand behind one origin in turn. The token crosses the wire this once.
 */
import { isRecord, type Storage } from '../base/storage.ts';
import { errorCodes, RequestError, type ErrorCode } from '#protocol/errors.ts';
import { typedCodeLength } from '#protocol/limits.ts';
import { deviceId, machineId, type DeviceId, type MachineId } from '#protocol/values/ids.ts';
import { parse, z } from '#protocol/schema.ts';
import { fingerprintOf } from './handshake.ts';

export interface PairingLink {
  readonly code: string;
  readonly machineId: string;
  /** Of the machine's key. */
  readonly fingerprint: string;
}

const credentials = z.object({ deviceId, token: z.string(), machineId, publicKey: z.string(), name: z.string() });
export interface Credentials {
  readonly deviceId: DeviceId;
  readonly token: string;
  readonly machineId: MachineId;
  /** Pinned: whoever names this machine must prove it with this key. */
  readonly publicKey: string;
  /** The machine's. */
  readonly name: string;
}

/** Reads `#pair=…&machine=…&key=…`, or null where the fragment holds no whole link. */
export function readPairingLink(fragment: string): PairingLink | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const code = fields.get('pair');
  const machine = fields.get('machine');
  const fingerprint = fields.get('key');
  if (!code || !machine || !fingerprint) return null;
  return { code, machineId: machine, fingerprint };
}

/** Reads the link that the page was opened by, and erases it from address bar and history at once. */
export function takePairingLink(
  location: Pick<Location, 'hash' | 'pathname' | 'search'>,
  history: Pick<History, 'replaceState' | 'state'>,
): PairingLink | null {
  if (!/[#&]pair=/.test(location.hash)) return null;
  const link = readPairingLink(location.hash);
  history.replaceState(history.state, '', location.pathname + location.search);
  return link;
}

export type PairingCode =
  | { readonly type: 'link'; readonly link: PairingLink }
  | { readonly type: 'code'; readonly code: string }
  | { readonly type: 'typed'; readonly typed: string };

/** What a person put in: a whole link, the long code of one, or the characters to type, in any case and with any spacing. Null: none of these. */
export function readPairingCode(text: string): PairingCode | null {
  const trimmed = text.trim();
  const fragment = trimmed.indexOf('#');
  if (fragment >= 0) {
    const link = readPairingLink(trimmed.slice(fragment));
    return link === null ? null : { type: 'link', link };
  }
  const typed = trimmed.replace(/[\s-]/g, '').toUpperCase();
  if (typed.length === typedCodeLength && /^[A-Z0-9]+$/.test(typed)) return { type: 'typed', typed };
  return /^[A-Za-z0-9_-]{20,64}$/.test(trimmed) ? { type: 'code', code: trimmed } : null;
}

const place = (id: string) => `credentials.${id}`;

/** Tokens by machine. Another tab may pair meanwhile, so nothing is held in memory. */
export class CredentialStore {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  read(machine: string): Credentials | null {
    const kept = z.safeParse(credentials, this.#storage.read(place(machine)));
    return kept.success && kept.data.machineId === machine ? kept.data : null;
  }

  /** Throws where the browser refuses: a device without its token would be one that nobody can use. */
  keep(pair: Credentials): void {
    if (!this.#storage.write(place(pair.machineId), pair))
      throw new RequestError(
        'unavailable',
        'This browser does not let the app keep its token. Allow site data for this address, then ask for a new code.',
      );
  }

  forget(machine: string): void {
    this.#storage.write(place(machine), null);
  }
}

/** Sends the code and returns what came for it. Throws a RequestError whose message says what to do; keeps nothing itself. */
export async function pair(
  code: PairingCode,
  deviceName: string,
  post: (path: string, body: unknown) => Promise<{ ok: boolean; body: unknown }>,
): Promise<Credentials> {
  const sent =
    code.type === 'typed' ? { typed: code.typed } : { code: code.type === 'link' ? code.link.code : code.code };
  const answer = await post('/pair', { ...sent, name: deviceName });
  if (!answer.ok) throw refusalOf(answer.body);
  const made = parse(credentials, answer.body, 'The answer to the pairing code');
  if (code.type !== 'link') return made;
  if (made.machineId !== code.link.machineId || (await fingerprintOf(made.publicKey)) !== code.link.fingerprint)
    throw new RequestError(
      'unauthorized',
      'Another machine answered than the one that made this link. Nothing was kept. Check which machine the port leads to, then open a new link.',
    );
  return made;
}

/** `POST` of JSON to the daemon that served the page. */
export function jsonPost(send: typeof fetch): (path: string, body: unknown) => Promise<{ ok: boolean; body: unknown }> {
  return async (path, body) => {
    let response: Response;
    try {
      response = await send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    } catch (error) {
      throw new RequestError('unavailable', 'The daemon did not answer. Is it running? The code is still good.', {
        cause: error,
      });
    }
    const text = await response.text();
    try {
      return { ok: response.ok, body: JSON.parse(text) };
    } catch {
      // An answer that is not JSON is a refusal without words.
      return { ok: false, body: null };
    }
  };
}

/** A refusal is `{ error: { message, data: { code } } }`, as on the socket. */
function refusalOf(body: unknown): RequestError {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  const data = isRecord(error['data']) ? error['data'] : error;
  const code =
    typeof data['code'] === 'string' && Object.hasOwn(errorCodes, data['code']) ? data['code'] : 'unauthorized';
  const message =
    typeof error['message'] === 'string'
      ? error['message']
      : 'The code was not accepted. Ask for a new one: alcove pair';
  return new RequestError(code as ErrorCode, message);
}

/** What a list of devices calls this browser, from its user agent: "Chrome on Linux". */
export function deviceNameOf(userAgent: string): string {
  const browsers = [
    ['Edge', /Edg\//],
    ['Firefox', /Firefox\/|FxiOS\//],
    ['Samsung Internet', /SamsungBrowser\//],
    ['Chrome', /Chrome\/|CriOS\//],
    ['Safari', /Safari\//],
  ] as const;
  const systems = [
    ['Android', /Android/],
    ['iPhone', /iPhone/],
    ['iPad', /iPad/],
    ['Windows', /Windows/],
    ['macOS', /Mac OS X|Macintosh/],
    ['ChromeOS', /CrOS/],
    ['Linux', /Linux/],
  ] as const;
  const browser = browsers.find(([, mark]) => mark.test(userAgent))?.[0] ?? 'Browser';
  const system = systems.find(([, mark]) => mark.test(userAgent))?.[0];
  return system === undefined ? browser : `${browser} on ${system}`;
}
