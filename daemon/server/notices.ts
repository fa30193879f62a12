/**
 * The news of one socket: for each topic and id the last value wins. On connect all current values are sent, then `settled`; after that
 * what changes, when the socket has room. At most one value a topic and id waits, however slow the client is.
 */
import type { Notice } from '#protocol/notices/notice.ts';
import { unreachable } from '../base/errors.ts';
import type { Outlet } from './outbox.ts';

/** Supplied by the composition root. Both are synchronous, so that nothing changes between them unseen. */
export interface NoticeSource {
  /** What a client that knows nothing is told: projects, and the rows of all sessions that are not idle. */
  current(): readonly Notice[];
  /** Tells each new value from now on; returns what to call to hear no more. */
  watch(changed: (notice: Notice) => void): () => void;
}

/** Sends news until the signal is aborted. */
export async function sendNotices(source: NoticeSource, outlet: Outlet, signal: AbortSignal): Promise<void> {
  const waiting = new Map<string, Notice>();
  let wake: (() => void) | null = null;
  const put = (notice: Notice) => {
    waiting.set(keyOf(notice), notice);
    wake?.();
  };
  const current = source.current();
  for (const notice of [...current, settled(current)]) put(notice);
  const unwatch = source.watch(put);
  const stop = () => wake?.();
  signal.addEventListener('abort', stop);
  try {
    while (!signal.aborted) {
      if (waiting.size === 0) await new Promise<void>((resolve) => (wake = resolve));
      else await outlet.pull(signal, () => takeFirst(waiting));
    }
  } finally {
    unwatch();
    signal.removeEventListener('abort', stop);
  }
}

function takeFirst(waiting: Map<string, Notice>): string | null {
  for (const [key, notice] of waiting) {
    waiting.delete(key);
    return JSON.stringify({ jsonrpc: '2.0', method: 'notice', params: notice });
  }
  return null;
}

function keyOf(notice: Notice): string {
  switch (notice.topic) {
    case 'session':
      return notice.session.sessionId;
    case 'projects':
    case 'sandbox':
    case 'models':
    case 'settled':
      return notice.topic;
  }
  return unreachable(notice);
}

function settled(current: readonly Notice[]): Notice {
  const states = current.flatMap((notice) => (notice.topic === 'session' ? [notice.session.state] : []));
  const count = (...wanted: string[]) => states.filter((state) => wanted.includes(state)).length;
  return { topic: 'settled', waiting: count('waiting'), running: count('running', 'pausing') };
}
