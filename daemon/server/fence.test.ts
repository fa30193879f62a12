/** The fence as a table (PM11, MB2, C24, C25): each rule for each kind of request. That it stands before every route is in http.test.ts. */
import { describe, expect, test } from 'vitest';
import { judgeRequest, type RequestHead } from './fence.ts';

type Headers = Record<string, string | readonly string[] | undefined>;
const verdict = (method: string, url: string, headers: Headers): string => {
  const all = Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? [value] : value]);
  const judgement = judgeRequest({ method, url, headers: Object.fromEntries(all) as RequestHead['headers'] });
  if (judgement.type === 'pass') return 'pass';
  return judgement.type === 'redirect' ? judgement.location : String(judgement.status);
};

const json = { 'content-type': 'application/json' };
const kinds: [string, string, string, Headers][] = [
  ['GET', 'GET', '/health', {}],
  ['POST', 'POST', '/rpc', json],
  ['upgrade', 'GET', '/ws', { upgrade: 'websocket', connection: 'upgrade', 'sec-fetch-mode': 'websocket' }],
  ['static file', 'GET', '/_app/immutable/entry.js', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'script' }],
  ['HEAD', 'HEAD', '/', {}],
  ['OPTIONS', 'OPTIONS', '/rpc', { 'access-control-request-method': 'POST' }],
];

const hosts: [string, Headers, string][] = [
  ['localhost with the port', { host: 'localhost:7717' }, 'pass'],
  ['localhost with a forwarded port (MB2)', { host: 'localhost:18080' }, 'pass'],
  ['localhost without a port', { host: 'localhost' }, 'pass'],
  ['localhost in capitals', { host: 'LOCALHOST:7717' }, 'pass'],
  ['127.0.0.1', { host: '127.0.0.1:7717' }, 'pass'],
  ['IPv6 loopback', { host: '[::1]:7717' }, 'pass'],
  ['IPv6 loopback without a port', { host: '[::1]' }, 'pass'],
  ['no Host', {}, '403'],
  ['an empty Host', { host: '' }, '403'],
  ['two Hosts', { host: ['localhost:7717', 'evil.example'] }, '403'],
  ['a foreign Host (C25)', { host: 'evil.example:7717' }, '403'],
  ['a name that ends in localhost', { host: 'evil.localhost:7717' }, '403'],
  ['a name that starts with localhost', { host: 'localhost.evil.example:7717' }, '403'],
  ['localhost with a trailing dot', { host: 'localhost.:7717' }, '403'],
  ['another address of the loopback net', { host: '127.0.0.2:7717' }, '403'],
  ['an address of the local net', { host: '192.168.1.10:7717' }, '403'],
  ['0.0.0.0', { host: '0.0.0.0:7717' }, '403'],
  ['loopback as a number', { host: '2130706433:7717' }, '403'],
  ['IPv6 loopback spelt out', { host: '[0:0:0:0:0:0:0:1]:7717' }, '403'],
  ['IPv6 loopback without brackets', { host: '::1' }, '403'],
  ['a port that is no number', { host: 'localhost:80x' }, '403'],
  ['a name before an @', { host: 'localhost:7717@evil.example' }, '403'],
  ['a Host with a space', { host: 'localhost :7717' }, '403'],
];

const origins: [string, Headers, string][] = [
  ['its own origin', { host: 'localhost:7717', origin: 'http://localhost:7717' }, 'pass'],
  ['its own origin through a forward (MB2)', { host: 'localhost:18080', origin: 'http://localhost:18080' }, 'pass'],
  ['its own origin on port 80', { host: 'localhost', origin: 'http://localhost' }, 'pass'],
  ['its own origin on IPv6', { host: '[::1]:7717', origin: 'http://[::1]:7717' }, 'pass'],
  ['a foreign origin (C24)', { host: 'localhost:7717', origin: 'http://evil.example' }, '403'],
  [
    'a rebound origin that equals its Host (C25)',
    { host: 'evil.example:7717', origin: 'http://evil.example:7717' },
    '403',
  ],
  ['origin null', { host: 'localhost:7717', origin: 'null' }, '403'],
  ['an empty origin', { host: 'localhost:7717', origin: '' }, '403'],
  ['another port of localhost', { host: 'localhost:7717', origin: 'http://localhost:5173' }, '403'],
  ['another loopback name', { host: 'localhost:7717', origin: 'http://127.0.0.1:7717' }, '403'],
  ['https of the same host', { host: 'localhost:7717', origin: 'https://localhost:7717' }, '403'],
  ['an origin with a path', { host: 'localhost:7717', origin: 'http://localhost:7717/' }, '403'],
  ['two origins', { host: 'localhost:7717', origin: ['http://localhost:7717', 'http://evil.example'] }, '403'],
];

const sites: [string, Headers, string][] = [
  ['same-origin', { host: 'localhost:7717', 'sec-fetch-site': 'same-origin' }, 'pass'],
  ['none', { host: 'localhost:7717', 'sec-fetch-site': 'none' }, 'pass'],
  ['same-site: another port of localhost', { host: 'localhost:7717', 'sec-fetch-site': 'same-site' }, '403'],
  ['cross-site (C24)', { host: 'localhost:7717', 'sec-fetch-site': 'cross-site' }, '403'],
  ['a word that no browser says', { host: 'localhost:7717', 'sec-fetch-site': 'friend' }, '403'],
  ['two sites', { host: 'localhost:7717', 'sec-fetch-site': ['none', 'cross-site'] }, '403'],
];

describe.each(kinds)('PM11 C25: %s', (_, method, url, own) => {
  test.each([...hosts, ...origins, ...sites])('%s', (_name, headers, expected) => {
    expect(verdict(method, url, { ...own, ...headers })).toBe(expected);
  });
});

const tab = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const here = { host: 'localhost:7717' };
test.each<[string, string, Headers, string]>([
  ['from another site', 'GET', { ...here, ...tab, 'sec-fetch-site': 'cross-site' }, 'pass'],
  ['from another port', 'GET', { ...here, ...tab, 'sec-fetch-site': 'same-site' }, 'pass'],
  ['into a frame', 'GET', { ...here, ...tab, 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' }, '403'],
  ['by a service worker', 'GET', { ...here, ...tab, 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'cross-site' }, '403'],
  ['of a form', 'POST', { ...here, ...json, ...tab, 'sec-fetch-site': 'cross-site' }, '403'],
  ['with a foreign Host', 'GET', { ...tab, host: 'evil.example', 'sec-fetch-site': 'none' }, '403'],
  ['with a foreign origin', 'GET', { ...here, ...tab, origin: 'null', 'sec-fetch-site': 'cross-site' }, '403'],
  ['that is only accepted as one', 'GET', { ...here, accept: 'text/html', 'sec-fetch-site': 'cross-site' }, '403'],
])('PM11: a navigation %s', (_, method, headers, expected) => {
  expect(verdict(method, '/', headers)).toBe(expected);
});

test.each<[string, string, string | undefined, string]>([
  ['/rpc', 'json', 'application/json', 'pass'],
  ['/rpc', 'json with a charset', 'Application/JSON; charset=utf-8', 'pass'],
  ['/rpc', 'text (C24)', 'text/plain', '415'],
  ['/rpc', 'a form', 'application/x-www-form-urlencoded', '415'],
  ['/rpc', 'a form with parts', 'multipart/form-data; boundary=x', '415'],
  ['/rpc', 'bytes', 'application/octet-stream', '415'],
  ['/rpc', 'nothing', undefined, '415'],
  ['/rpc', 'text that mentions json', 'text/plain; application/json', '415'],
  ['/pair', 'text', 'text/plain', '415'],
  ['/nowhere', 'text', 'text/plain', '415'],
  ['/blobs', 'bytes', 'application/octet-stream', 'pass'],
  ['/blobs?x', 'bytes', 'application/octet-stream', 'pass'],
  ['/blobs', 'json', 'application/json', '415'],
  ['/blobs', 'nothing', undefined, '415'],
])('C24: a POST to %s of %s', (url, _, type, expected) => {
  expect(verdict('POST', url, { ...here, 'content-type': type })).toBe(expected);
});

test('C24: a POST with two content types is refused', () => {
  expect(verdict('POST', '/rpc', { ...here, 'content-type': ['application/json', 'text/plain'] })).toBe('415');
});

test.each<[string, string, string, Headers, string]>([
  ['a tab on 127.0.0.1', 'GET', '/s?q=1', { ...tab, host: '127.0.0.1:7717' }, 'http://localhost:7717/s?q=1'],
  ['a tab on IPv6', 'GET', '/', { ...tab, host: '[::1]:18080' }, 'http://localhost:18080/'],
  ['a tab without a port', 'GET', '/', { ...tab, host: '127.0.0.1' }, 'http://localhost/'],
  [
    'a path like a host',
    'GET',
    '//evil.example/',
    { ...tab, host: '127.0.0.1:1' },
    'http://localhost:1//evil.example/',
  ],
  ['a tab of an older browser', 'GET', '/', { host: '127.0.0.1:1', accept: 'text/html,*/*' }, 'http://localhost:1/'],
  [
    'a link from another site',
    'GET',
    '/',
    { ...tab, host: '127.0.0.1:1', 'sec-fetch-site': 'cross-site' },
    'http://localhost:1/',
  ],
  ['a tab on localhost', 'GET', '/', { ...tab, host: 'localhost:7717' }, 'pass'],
  ['a script', 'GET', '/', { host: '127.0.0.1:7717' }, 'pass'],
  [
    'a request of a page',
    'GET',
    '/',
    { host: '127.0.0.1:7717', 'sec-fetch-mode': 'cors', accept: 'text/html' },
    'pass',
  ],
  ['a POST', 'POST', '/rpc', { ...tab, ...json, host: '127.0.0.1:7717' }, 'pass'],
  ['a foreign Host', 'GET', '/', { ...tab, host: '10.0.0.1:7717' }, '403'],
])('PM11: one canonical origin: %s', (_, method, url, headers, expected) => {
  expect(verdict(method, url, headers)).toBe(expected);
});

test.each([
  ['RT28: an address of the longest length', `/${'a'.repeat(2047)}`, 'pass'],
  ['RT28: an address longer by one', `/${'a'.repeat(2048)}`, '414'],
  ['an absolute address, as to a proxy', 'http://evil.example/', '400'],
  ['an asterisk', '*', '400'],
])('%s', (_, url, expected) => {
  expect(verdict('GET', url, here)).toBe(expected);
});
