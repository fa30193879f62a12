/**
 * Alcove's daemon with one client on its socket, as the app is one. Started as users run it, from what was built last, with all its promises on;
 * its home is the place's `.alcove`.
 */
import { join } from 'node:path';
import type { ProjectId, SessionId } from '#protocol/values/ids.ts';
import { dumpLog } from '../../../daemon/session/inspect.ts';
import { Daemon, newCommandId } from '../../support/daemon.ts';
import type { Answered, BenchPlace, BenchServer, SawText } from '../contestant.ts';
import { now } from '../measure.ts';
import { AlcoveSocket, type Batch, type Device } from './alcove-socket.ts';
import { Turns } from './turns.ts';

/** What the app asks for when it opens a session (web/lib/state/session.svelte.ts), and for its lists (catalog.svelte.ts). */
const tailBytes = 96 * 1024;
const listed = 200;

export class AlcoveServer implements BenchServer {
  readonly home: string;
  readonly #daemon: Daemon;
  #device: Device | null = null;
  #socket: AlcoveSocket | null = null;
  readonly #turns = new Turns();
  readonly #saw = new Map<string, SawText>();
  /** By session, the subscription that it is read by. */
  readonly #followed = new Map<string, Promise<string>>();
  readonly #projects = new Map<string, ProjectId>();
  #received = 0;

  /** @param environment The key of the provider, where the configuration names one. */
  constructor(place: BenchPlace, environment: Readonly<Record<string, string>> = {}) {
    this.home = join(place.home, '.alcove');
    this.#daemon = new Daemon({
      home: this.home,
      folder: place.folder,
      environment: { ...environment, HOME: place.home },
    });
  }

  get pids(): readonly number[] {
    return [this.#daemon.pid];
  }

  get port(): number {
    return this.#daemon.port;
  }

  get address(): string {
    return this.#daemon.address;
  }

  /** Bytes of events that came over the socket so far. */
  get received(): number {
    return this.#received;
  }

  async start(): Promise<number> {
    const from = now();
    await this.#daemon.start();
    await this.#daemon.call('session.list', { limit: 1 });
    const ms = (now() - from) / 1000;
    this.#device ??= await this.#pair();
    this.#socket = await AlcoveSocket.connect(this.#daemon.port, this.#device);
    return ms;
  }

  async restart(): Promise<number> {
    await this.stop();
    return await this.start();
  }

  /** In order, and its log is closed; `start` may follow. */
  async stop(): Promise<void> {
    await this.#socket?.close();
    this.#socket = null;
    await this.#daemon.stop();
    this.#forget();
  }

  async kill(): Promise<void> {
    await this.#daemon.kill();
    // What had been sent before the kill still comes, and counts as seen.
    await this.#socket?.closed;
    this.#socket = null;
    this.#forget();
  }

  async close(): Promise<void> {
    await this.stop();
  }

  async create(folder: string): Promise<string> {
    const sessionId = `ses_${newCommandId()}` as SessionId;
    const projectId = this.#projects.get(folder) ?? (await this.#project(folder));
    await this.#client.call('session.create', { commandId: newCommandId(), sessionId, projectId, mode: 'auto' });
    return sessionId;
  }

  async subscribe(session: string, saw: SawText): Promise<void> {
    this.#saw.set(session, saw);
    await this.#follow(session);
  }

  async send(session: string, text: string): Promise<void> {
    await this.#follow(session);
    this.#turns.sent(session);
    await this.#client.call('session.submit', {
      commandId: newCommandId(),
      sessionId: session as SessionId,
      target: 'next-turn',
      parts: [{ type: 'text', text }],
    });
  }

  async done(session: string): Promise<void> {
    await this.#turns.done(session, this.#client.closed);
    // Nobody looks at it: a page would close it too, and a socket holds only so many.
    const followed = this.#followed.get(session);
    if (followed === undefined || this.#saw.has(session)) return;
    this.#followed.delete(session);
    await this.#client.call('session.unsubscribe', { subscription: await followed });
  }

  async page(session: string): Promise<Answered> {
    const from = now();
    let [items, bytes, seq, at] = [0, 0, 0, 0];
    let reached = Infinity;
    let wake = () => {};
    const whole = new Promise<void>((resolve) => (wake = resolve));
    const read = (batch: Batch) => {
      items += batch.events.length;
      bytes += batch.bytes;
      at = batch.at;
      seq = batch.events.at(-1)?.seq ?? seq;
      if (seq >= reached) wake();
    };
    const answer = await this.#client.subscribe({ sessionId: session as SessionId, tailBytes }, read);
    reached = answer.result.seq;
    if (Math.max(seq, answer.result.base?.seq ?? 0) < reached) await whole;
    await this.#client.call('session.unsubscribe', { subscription: answer.result.subscription });
    return { ms: (Math.max(at, answer.at) - from) / 1000, bytes: bytes + answer.bytes, items };
  }

  async history(session: string): Promise<string> {
    const lines: string[] = [];
    await dumpLog(
      join(this.home, 'sessions', `${session}.jsonl.zst`),
      async (line) => void lines.push(line),
      ({ reason }) => {
        throw new Error(`the log is damaged: ${reason}`);
      },
    );
    return lines.join('\n');
  }

  async list(): Promise<Answered> {
    const from = now();
    const { result, at, bytes } = await this.#client.call('session.list', { limit: listed });
    return { ms: (at - from) / 1000, bytes, items: result.sessions.length };
  }

  /** A link that pairs one more browser. */
  async pairingLink(): Promise<string> {
    return (await this.#daemon.call('pairing.create', {})).link;
  }

  get #client(): AlcoveSocket {
    if (this.#socket === null) throw new Error('the daemon was not started');
    return this.#socket;
  }

  /** Reads a session from its end on, once in each life of the daemon. */
  #follow(session: string): Promise<string> {
    const known = this.#followed.get(session);
    if (known !== undefined) return known;
    let after = Infinity;
    const early: Batch[] = [];
    const read = ({ events, at, bytes }: Batch) => {
      this.#received += bytes;
      for (const event of events) {
        if (event.seq <= after) continue;
        if (event.type === 'part.delta') this.#saw.get(session)?.(event.text as string, at);
        if (event.type === 'turn.ended') this.#turns.ended(session);
      }
    };
    const start = async () => {
      const { result } = await this.#client.subscribe({ sessionId: session as SessionId, tailBytes: 0 }, (batch) => {
        if (after === Infinity) early.push(batch);
        else read(batch);
      });
      after = result.seq;
      for (const batch of early) read(batch);
      return result.subscription;
    };
    const following = start();
    this.#followed.set(session, following);
    return following;
  }

  async #project(folder: string): Promise<ProjectId> {
    const { result } = await this.#client.call('project.add', { commandId: newCommandId(), path: folder });
    this.#projects.set(folder, result.project.projectId);
    return result.project.projectId;
  }

  async #pair(): Promise<Device> {
    const { typed } = await this.#daemon.call('pairing.create', {});
    const response = await fetch(`${this.#daemon.address}/pair`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ typed, name: 'The bench' }),
    });
    if (!response.ok) throw new Error(`pairing was refused: ${await response.text()}`);
    return (await response.json()) as Device;
  }

  #forget(): void {
    this.#turns.forget();
    this.#saw.clear();
    this.#followed.clear();
  }
}
