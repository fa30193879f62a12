/** What a client may receive: a response to each of its requests, and notifications of four kinds. */
import type { ErrorCode } from './errors.ts';
import type { SessionEvent } from './event.ts';
import type { Notice } from './notices/notice.ts';

export type Response =
  | { jsonrpc: '2.0'; id: string | number; result: unknown }
  | { jsonrpc: '2.0'; id: string | number | null; error: { code: number; message: string; data: { code: ErrorCode } } };

/** Durable events of one subscription, in order; `events[0]` follows the last event that was sent (or the base). */
export interface EventsNotification {
  jsonrpc: '2.0';
  method: 'session.events';
  params: { subscription: string; events: SessionEvent[] };
}

export interface NoticeNotification {
  jsonrpc: '2.0';
  method: 'notice';
  params: Notice;
}

/** Every `heartbeatMs`, whatever else is sent: a page does not see WebSocket pings, and by silence finds a half-open socket. */
export interface HeartbeatNotification {
  jsonrpc: '2.0';
  method: 'heartbeat';
}

/** The daemon cannot go on with a subscription; nothing of it comes any more. */
export interface SubscriptionEndedNotification {
  jsonrpc: '2.0';
  method: 'subscription.ended';
  params: { subscription: string; error: { code: ErrorCode; message: string } };
}

export type Down =
  Response | EventsNotification | SubscriptionEndedNotification | NoticeNotification | HeartbeatNotification;

/** JSON-RPC's own numbers for the codes that have one; all others are -32000. */
export function rpcNumber(code: ErrorCode): number {
  if (code === 'invalid_params') return -32602;
  if (code === 'unknown_method') return -32601;
  if (code === 'internal') return -32603;
  return -32000;
}
