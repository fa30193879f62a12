/** A client that follows sessions over plain HTTP, as a page does over its socket: what it was shown must be in the log afterwards. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionEvent } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import type { World } from './world.ts';

export class Follower {
  readonly sessionId: SessionId;
  /** Events as they came, in order, in this life of the daemon. */
  readonly seen: SessionEvent[] = [];
  /** Settled once the daemon has gone. */
  readonly ended: Promise<void>;

  constructor(world: World, sessionId: SessionId, after: number, came: (event: SessionEvent) => void) {
    this.sessionId = sessionId;
    this.ended = this.#follow(world, after, came).catch(() => undefined);
  }

  async #follow(world: World, after: number, came: (event: SessionEvent) => void): Promise<void> {
    const { token } = JSON.parse(await readFile(join(world.daemon.home, 'daemon.json'), 'utf8')) as { token: string };
    const response = await fetch(`${world.daemon.address}/sessions/${this.sessionId}/events?after=${after}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (!response.ok || response.body === null) return;
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = block.split('\n').find((line) => line.startsWith('data: '));
        if (data === undefined) continue;
        const event = JSON.parse(data.slice('data: '.length)) as SessionEvent;
        this.seen.push(event);
        came(event);
      }
    }
  }
}
