/**
 * One text socket as the client sees it, and the browser's WebSocket as one. Tests bring their own.
 * After `closed` nothing comes any more; `closed` comes exactly once, also for a socket that never opened.
 */
import { subprotocol } from '#protocol/limits.ts';

export interface SocketHandlers {
  opened(): void;
  received(text: string): void;
  closed(code: number, reason: string): void;
}

export interface Socket {
  send(text: string): void;
  close(code: number, reason: string): void;
}

export type OpenSocket = (handlers: SocketHandlers) => Socket;

/** `origin` as in `location.origin`: the daemon that served the page is the one that is spoken to. */
export function browserSocket(origin: string): OpenSocket {
  return (handlers) => {
    const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}/ws`, subprotocol);
    socket.onopen = () => handlers.opened();
    socket.onmessage = (event) => {
      if (typeof event.data === 'string') handlers.received(event.data);
    };
    socket.onclose = (event) => handlers.closed(event.code, event.reason);
    return {
      send: (text) => socket.send(text),
      close: (code, reason) => socket.close(code, reason),
    };
  };
}
