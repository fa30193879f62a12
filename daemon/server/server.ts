/**
 * The door of the daemon, assembled: identity, devices, results of commands, sockets, routes, the listener. The composition root hands in
 * what other rooms answer (sessions, news, blobs, handlers), gets the port and the per-process token, and closes it before them.
 */
import { join } from 'node:path';
import type { Result } from '#protocol/command.ts';
import type { SandboxState } from '#protocol/values/sandbox.ts';
import type { Clock } from '../base/clock.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import type { Ids } from '../base/ids.ts';
import { Scope } from '../base/scope.ts';
import { Bearers } from './bearers.ts';
import type { BlobStore } from './blob-store.ts';
import { BlobRoutes } from './blobs.ts';
import { CommandResults } from './command-results.ts';
import { Dispatcher, type Handlers } from './commands.ts';
import { Devices } from './devices.ts';
import { EventStreams } from './event-stream.ts';
import { HttpRoutes } from './http.ts';
import { listenOnLoopback } from './listener.ts';
import { Machine } from './machine.ts';
import type { NoticeSource } from './notices.ts';
import { invitation, ownHandlers, type OwnCommand } from './own-commands.ts';
import { Pairings } from './pairing.ts';
import type { SessionSources } from './session-source.ts';
import { usualTiming, type About, type SocketTiming } from './socket.ts';
import { Sockets } from './sockets.ts';
import { StaticFiles } from './static-files.ts';

export interface ServerNeeds {
  /** Must exist, and be owned by this process alone. */
  readonly home: string;
  /** The built app. */
  readonly webFolder: string;
  /** 0 finds a free one. */
  readonly port: number;
  readonly about: About;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly diagnostics: Diagnostics;
  readonly sessions: SessionSources;
  readonly notices: NoticeSource;
  readonly blobs: BlobStore;
  readonly handlers: Omit<Handlers, OwnCommand>;
  readonly sandbox: SandboxState;
  counts(): Result<'machine.status'>['sessions'];
  readonly timing?: SocketTiming;
}

interface Parts {
  readonly about: About;
  readonly machine: Machine;
  readonly pairings: Pairings;
  readonly devices: Devices;
  readonly bearers: Bearers;
  readonly sockets: Sockets;
}

export class Server {
  readonly machine: Machine;
  readonly pairings: Pairings;
  readonly devices: Devices;
  readonly port: number;
  /** The command line's bearer: belongs into an owner-only file and nowhere else. */
  readonly processToken: string;
  readonly #about: About;
  readonly #sockets: Sockets;
  readonly #scope: Scope;

  private constructor(parts: Parts, port: number, scope: Scope) {
    this.machine = parts.machine;
    this.pairings = parts.pairings;
    this.devices = parts.devices;
    this.processToken = parts.bearers.processToken;
    this.port = port;
    this.#about = parts.about;
    this.#sockets = parts.sockets;
    this.#scope = scope;
  }

  /** Rejects with a PortBusyError where the port is taken; then nothing stays open. */
  static async open(needs: ServerNeeds): Promise<Server> {
    const scope = new Scope();
    try {
      return await Server.#assemble(needs, scope);
    } catch (error) {
      await scope.close();
      throw error;
    }
  }

  static async #assemble(needs: ServerNeeds, scope: Scope): Promise<Server> {
    const { home, about, clock, diagnostics, sessions, timing = usualTiming } = needs;
    const pairings = new Pairings(clock);
    const machine = await Machine.open(home, needs);
    const devices = scope.own(await Devices.open(home, needs));
    const results = scope.own(await CommandResults.open(join(home, 'commands.jsonl'), clock, diagnostics));
    const bearers = scope.own(new Bearers());
    diagnostics.keepSecret(bearers.processToken);
    const files = await StaticFiles.open(needs.webFolder);
    let port = needs.port;
    const handlers: Handlers = {
      ...needs.handlers,
      ...ownHandlers({
        about,
        machine,
        devices,
        pairings,
        sessions,
        home,
        sandbox: needs.sandbox,
        startedAt: clock.now(),
        counts: () => needs.counts(),
        clients: () => sockets.clients,
        port: () => port,
      }),
    };
    const dispatcher = new Dispatcher(handlers, results, diagnostics);
    const sockets = new Sockets({ ...needs, machine, devices, bearers, dispatcher, timing });
    const streams = new EventStreams(sessions, timing.heartbeatMs);
    const blobs = new BlobRoutes(needs.blobs, clock);
    const { signal } = scope;
    const parts = { about, machine, devices, pairings, bearers, dispatcher, sockets, streams, blobs, files };
    const listener = scope.own(await listenOnLoopback(new HttpRoutes({ ...parts, diagnostics, signal }), needs.port));
    // Closed before the listener, which waits for every connection to end.
    scope.own(sockets);
    port = listener.port;
    return new Server(parts, port, scope);
  }

  /** Clients that are connected and authenticated. */
  get clients(): number {
    return this.#sockets.clients;
  }

  /** As `pairing.create` answers it, for whoever started this one. */
  invite(): Result<'pairing.create'> {
    return invitation({ pairings: this.pairings, machine: this.machine, about: this.#about }, this.port);
  }

  /** Ends streams and sockets, lets answers leave, and resolves when what must be on disk is there. */
  close(): Promise<void> {
    return this.#scope.close();
  }
}
