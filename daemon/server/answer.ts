/**
 * How every HTTP answer of the daemon looks: the same security headers, errors included, and errors in the words of JSON-RPC. No answer
 * ever carries a CORS header: nothing of another origin may read anything.
 */
import { STATUS_CODES, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { rpcNumber } from '#protocol/down.ts';
import { RequestError, type ErrorCode } from '#protocol/errors.ts';

/** For answers that are no page: nothing in them may load or run. */
export const dataPolicy = "default-src 'none'; frame-ancestors 'none'";

export function securityHeaders(policy: string): Record<string, string> {
  return {
    'content-security-policy': policy,
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
}

const statusOf: { readonly [Code in ErrorCode]: number } = {
  invalid_params: 400,
  unknown_method: 404,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  stale: 409,
  busy: 409,
  too_large: 413,
  too_many: 429,
  read_only: 409,
  storage_failed: 507,
  outcome_unknown: 409,
  provider_error: 502,
  unavailable: 503,
  version: 409,
  internal: 500,
};

/** A refusal whose status says more than its code does (415, 426). */
export class HttpError extends RequestError {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  constructor(status: number, code: ErrorCode, message: string, headers: OutgoingHttpHeaders = {}) {
    super(code, message);
    this.status = status;
    this.headers = headers;
  }
}

export function errorBody({ code, message }: RequestError): string {
  return JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: rpcNumber(code), message, data: { code } } });
}

export function sendJson(response: ServerResponse, body: unknown): void {
  send(response, 200, JSON.stringify(body), {});
}

export function sendError(response: ServerResponse, error: RequestError): void {
  const [status, headers] = statusAndHeaders(error);
  send(response, status, errorBody(error), headers);
}

export function sendRedirect(response: ServerResponse, location: string): void {
  response.writeHead(307, { ...securityHeaders(dataPolicy), 'cache-control': 'no-store', location });
  response.end();
}

/** The same refusal on a bare connection: an upgrade that is refused, or bytes that are no request. The connection ends with it. */
export function endWithError(connection: Duplex, error: RequestError): void {
  const [status, more] = statusAndHeaders(error);
  const body = errorBody(error);
  const headers = { ...dataHeaders(body), ...more, connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  connection.on('error', () => undefined);
  connection.once('finish', () => connection.destroy());
  connection.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n'));
}

function send(response: ServerResponse, status: number, body: string, headers: OutgoingHttpHeaders): void {
  response.writeHead(status, { ...dataHeaders(body), ...headers });
  response.end(body);
}

function statusAndHeaders(error: RequestError): [number, OutgoingHttpHeaders] {
  if (error instanceof HttpError) return [error.status, error.headers];
  return [statusOf[error.code], error.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}];
}

function dataHeaders(body: string): OutgoingHttpHeaders {
  return {
    ...securityHeaders(dataPolicy),
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  };
}
