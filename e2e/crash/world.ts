/**
 * What the crash harness kills: the real daemon with a home, a folder and providers of its own, a few sessions at work, and a ledger of
 * everything that the daemon acknowledged. The ledger is the other side of the law: what it holds must be in the logs, once.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandName, Params } from '#protocol/command.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { CommandId, ProjectId, SessionId } from '#protocol/values/ids.ts';
import { dumpLog } from '../../daemon/session/inspect.ts';
import type { Chance } from '../proofs/chance.ts';
import { Daemon, newCommandId } from '../support/daemon.ts';
import { Models } from './model.ts';

/** A command that was sent. It is sent again after a kill: the same answer is due, and no second effect. */
export interface Sent {
  readonly method: CommandName;
  readonly params: { readonly commandId: CommandId; readonly sessionId: SessionId } & Record<string, unknown>;
  /** The seq that was answered; null: no answer came, so it may have happened or not. */
  seq: number | null;
}

export class World {
  readonly chance: Chance;
  readonly models: Models;
  readonly daemon: Daemon;
  readonly folder: string;
  /** Sessions at work now, and those that have been left alone for good. */
  sessions: SessionId[] = [];
  readonly retired: SessionId[] = [];
  readonly ledger: Sent[] = [];
  /** The last event that is known of each. */
  readonly seqs = new Map<SessionId, number>();
  #inputs = 0;
  readonly #scratch: string;

  private constructor(chance: Chance, models: Models, scratch: string) {
    this.chance = chance;
    this.models = models;
    this.#scratch = scratch;
    this.folder = join(scratch, 'garden');
    const environment = { E2E_KEY: 'not a real key' };
    this.daemon = new Daemon({ home: join(scratch, 'home'), folder: this.folder, environment });
  }

  static async open(chance: Chance): Promise<World> {
    const models = await Models.start(chance);
    const world = new World(chance, models, await mkdtemp(join(tmpdir(), 'alcove-crash-')));
    await mkdir(world.daemon.home, { recursive: true, mode: 0o700 });
    await mkdir(world.folder);
    const settings = { model: models.names[0], providers: models.settings };
    await writeFile(join(world.daemon.home, 'settings.json'), JSON.stringify(settings), { mode: 0o600 });
    await writeFile(join(world.folder, 'notes.md'), '# Garden\n\nRoses\nFerns\nMoss\n');
    return world;
  }

  /** Ends everything. The files are kept where something was wrong, for whoever looks into it. */
  async close(keep: boolean): Promise<string | null> {
    await this.daemon.kill();
    await this.models.close();
    if (keep) return this.#scratch;
    await rm(this.#scratch, { recursive: true, force: true });
    return null;
  }

  log(sessionId: SessionId): string {
    return join(this.daemon.home, 'sessions', `${sessionId}.jsonl.zst`);
  }

  /** Every event that can be read, and what cannot be. */
  async events(sessionId: SessionId): Promise<{ events: SessionEvent[]; torn: string | null }> {
    const events: SessionEvent[] = [];
    let torn: string | null = null;
    await dumpLog(
      this.log(sessionId),
      async (line) => void events.push(JSON.parse(line) as SessionEvent),
      (damage) => {
        if (!damage.torn) throw new Error(`${sessionId}: bytes ${damage.from} to ${damage.to}: ${damage.reason}`);
        torn = damage.reason;
      },
    ).catch((error: unknown) => {
      // A kill in the first write leaves no log, or an empty one.
      if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
    });
    return { events, torn };
  }

  /** Lines of a file of the person's folder that commands write to. */
  async lines(name: string): Promise<string[]> {
    const text = await readFile(join(this.folder, name), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  }

  nextInput(): string {
    this.#inputs += 1;
    return `msg${this.#inputs}e`;
  }

  /** Sends a command and notes what became of it. Rejects as the daemon refuses it, or as the connection breaks. */
  async send<Name extends CommandName>(method: Name, params: Omit<Params<Name>, 'commandId'>): Promise<number | null> {
    const whole = { commandId: newCommandId(), ...params } as unknown as Sent['params'];
    const sent: Sent = { method, params: whole, seq: null };
    this.ledger.push(sent);
    return this.again(sent);
  }

  /** Sends it, for the first time or once more. What changed nothing left nothing by which it could be known again; all else is answered as before. */
  async again(sent: Sent): Promise<number | null> {
    const { commandId, sessionId } = sent.params;
    const known =
      sent.seq !== null && (await this.events(sessionId)).events.some(({ command }) => command?.id === commandId);
    const answer = (await this.daemon.call(sent.method, sent.params)) as { seq?: number };
    if (known && answer.seq !== sent.seq)
      throw new LawBroken(`L4: ${sent.method} ${commandId} was answered ${sent.seq}, and again ${answer.seq}`);
    // One that had changed nothing, and was sent again, may have changed something then.
    if (!known) sent.seq = answer.seq ?? null;
    return sent.seq;
  }

  async project(): Promise<ProjectId> {
    const { project } = await this.daemon.call('project.add', { commandId: newCommandId(), path: this.folder });
    return project.projectId;
  }

  /** Keeps a few sessions at work: the oldest goes when it has been through enough. */
  retire(sessionId: SessionId): void {
    this.sessions = this.sessions.filter((one) => one !== sessionId);
    this.retired.push(sessionId);
  }
}

export class LawBroken extends Error {}
