/**
 * Who may ask at all: a pure decision over a request's method, address and headers, taken before any routing, upgrades and static files
 * included. It stops pages of other origins, DNS rebinding and other ports of localhost; who passes still has to authenticate. Rules:
 *   N1  Host is one loopback name with any port (a forward may change it); a request without one is refused
 *   N2  Origin, where present, is http:// and that Host; `null` never
 *   N3  Sec-Fetch-Site, where present, is same-origin or none; only a top-level navigation may come from elsewhere
 *   N4  a POST says that it carries JSON, a blob's that it carries bytes: what a form can send is neither
 *   N5  a navigation to another loopback name is sent to localhost with the same port; nothing else redirects
 */
import type { ErrorCode } from '#protocol/errors.ts';
import { maxUrlLength } from '#protocol/limits.ts';

export interface RequestHead {
  readonly method: string;
  readonly url: string;
  /** Each header with all its values, as they came: a doubled Host is not one Host. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
}

export type Judgement =
  | { readonly type: 'pass' }
  | { readonly type: 'redirect'; readonly location: string }
  | {
      readonly type: 'refuse';
      readonly status: 400 | 403 | 414 | 415;
      readonly code: ErrorCode;
      readonly message: string;
    };

const loopbackHost = /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?$/i;

export function judgeRequest(head: RequestHead): Judgement {
  const host = loopbackHost.exec(single(head, 'host') ?? '');
  if (host === null)
    return forbidden(
      'This daemon answers only to loopback names. Open it as http://localhost with the port that leads here.',
    );
  if (!comesFrom(head, host[0])) return forbidden('Another origin may not ask this daemon for anything.');
  if (!siteMayAsk(head)) return forbidden('Another site may not ask this daemon for anything.');
  if (head.url.length > maxUrlLength)
    return refuse(414, 'too_large', `The address is longer than ${maxUrlLength} characters (maxUrlLength).`);
  if (!head.url.startsWith('/')) return refuse(400, 'invalid_params', 'The address must be a path.');
  if (isNavigation(head) && host[1]?.toLowerCase() !== 'localhost')
    return { type: 'redirect', location: `http://localhost${host[2] ?? ''}${head.url}` };
  const needed = neededContentType(head);
  if (needed !== null && contentType(head) !== needed)
    return refuse(415, 'invalid_params', `A POST to this address must say content-type: ${needed}.`);
  return { type: 'pass' };
}

/** True for what a person opens in a tab. A browser that does not say so is known by what it accepts. */
export function isNavigation(head: RequestHead): boolean {
  if (head.method !== 'GET') return false;
  if (head.headers['sec-fetch-mode'] !== undefined) return isStatedNavigation(head);
  return single(head, 'accept')?.includes('text/html') ?? false;
}

function isStatedNavigation(head: RequestHead): boolean {
  return (
    head.method === 'GET' &&
    single(head, 'sec-fetch-mode') === 'navigate' &&
    single(head, 'sec-fetch-dest') === 'document'
  );
}

function comesFrom(head: RequestHead, host: string): boolean {
  if (head.headers['origin'] === undefined) return true;
  return single(head, 'origin')?.toLowerCase() === `http://${host.toLowerCase()}`;
}

function siteMayAsk(head: RequestHead): boolean {
  if (head.headers['sec-fetch-site'] === undefined) return true;
  const site = single(head, 'sec-fetch-site');
  return site === 'same-origin' || site === 'none' || isStatedNavigation(head);
}

function neededContentType(head: RequestHead): string | null {
  if (head.method !== 'POST') return null;
  const path = head.url.split('?', 1)[0];
  return path === '/blobs' ? 'application/octet-stream' : 'application/json';
}

function contentType(head: RequestHead): string | undefined {
  return single(head, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
}

/** The header's value where it came exactly once. */
function single(head: RequestHead, name: string): string | undefined {
  const values = head.headers[name];
  return values?.length === 1 ? values[0] : undefined;
}

function forbidden(message: string): Judgement {
  return refuse(403, 'forbidden', message);
}

function refuse(status: 400 | 403 | 414 | 415, code: ErrorCode, message: string): Judgement {
  return { type: 'refuse', status, code, message };
}
