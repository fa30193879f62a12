/** The contract of every adapter. One adapter a wire format; a vendor is a row of settings. */
import type { ModelRequest, StreamEvent } from './item.ts';

export interface ModelClient {
  /**
   * Streams one reply. Must yield exactly one StreamEnd, as its last event, whatever went wrong; must not throw; must not retry by itself;
   * must end soon after `signal` aborts. A reply that was cut or malformed on the wire ends `failed`, unless the finish reason had
   * arrived: then it is `done`, usage perhaps unknown. Text is never split inside a code point. Before `done` every part has ended; before
   * `failed` and `aborted` parts may still be open. Asked after close() it ends `aborted`.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<StreamEvent>;
  /** Drops every connection and timer. Idempotent. */
  close(): Promise<void>;
}
