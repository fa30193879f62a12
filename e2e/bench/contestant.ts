/**
 * Who takes part in the bench, and what each part asks of them. A contestant says how it is had, how it is told about the provider, and how it
 * is run: once and headless, or as a server. It measures nothing itself but moments; what they mean is the parts' business.
 */
import type { BenchProvider } from './provider/provider.ts';
import type { Meter } from './timed-run.ts';

/** Where one contestant works: always fresh, below the temporary folder, and gone with the bench. */
export interface BenchPlace {
  /** Its HOME; nothing of the person's is seen. */
  readonly home: string;
  /** The folder it works in: a small git repository. */
  readonly folder: string;
  /** The address of the provider, without `/v1`. */
  readonly providerUrl: string;
}

/** A program and how it is started. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  /** All of it: nothing of the bench's own environment comes through. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Whether a contestant can take part here. */
export type Availability =
  { readonly available: true; readonly version: string } | { readonly available: false; readonly reason: string };

export interface Contestant {
  readonly name: string;
  /** Brings what it needs; must not throw where it cannot be had. Called once. */
  prepare(): Promise<Availability>;
  /** Writes its configuration into a place. Called once for each place, before anything is run there. */
  configure(place: BenchPlace): Promise<void>;
  /** One task, to its end, without asking anybody. */
  readonly headless?: (place: BenchPlace, task: string) => CommandLine;
  /** Where it keeps its sessions, for the bytes on disk; null where it keeps none. */
  dataFolder(place: BenchPlace): string | null;
  /** Its server in a place that was configured; not started yet. */
  readonly server?: (place: BenchPlace) => BenchServer;
}

/** A part of a reply as a client saw it. */
export type SawText = (text: string, at: number) => void;

/** What one request to a server gave. */
export interface Answered {
  readonly ms: number;
  readonly bytes: number;
  /** How many it lists: events, items, sessions. */
  readonly items: number;
}

/** A server with one client, spoken to as its own app does. Every wait rejects when the process ends. */
export interface BenchServer {
  /** Starts the process; resolves with the milliseconds to its first authenticated answer. */
  start(): Promise<number>;
  /** Ends it gracefully and starts it again on the same place; resolves like `start`. */
  restart(): Promise<number>;
  /** Ends it by SIGKILL, with nothing of its tools; `start` may follow. */
  kill(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
  /** Of what makes up the server, to look at its cost. */
  readonly pids: readonly number[];
  /** A session in a folder, in which shell commands run without asking. */
  create(folder: string): Promise<string>;
  /** From now on, each piece of text in the session's replies. */
  subscribe(session: string, saw: SawText): Promise<void>;
  /** Resolves when the server acknowledged the input. */
  send(session: string, text: string): Promise<void>;
  /** Resolves when the turn of the last `send` has ended. */
  done(session: string): Promise<void>;
  /** The newest page of the history, as the app asks for it when it opens a session. */
  page?(session: string): Promise<Answered>;
  /** The whole history, as JSON: what bytes on disk are compared to. */
  history?(session: string): Promise<string>;
  /** The first page of the list of sessions. */
  list?(): Promise<Answered>;
}

/** One row of one contestant: the values of the runs, in the unit of the row. */
export interface Measured {
  /** Names a row of rows.ts. */
  readonly id: string;
  readonly contestant: string;
  readonly values: readonly number[];
  /** What must be known beside the figure: how it was had, what went wrong in some runs. */
  readonly note?: string;
}

/** What a part works with. */
export interface Bench {
  /** Those that are asked for and can be had, in the order in which they take turns. */
  readonly contestants: readonly Contestant[];
  readonly provider: BenchProvider;
  /** How processor and memory of a whole run are had on this machine. */
  readonly meter: Meter;
  /** Counted runs of each contestant; warm-ups come on top. */
  readonly runs: number;
  /** Of the short task; the long one has fifty times as many. */
  readonly steps: number;
  /** Cheap: the part is run for --check and leaves out what takes more than a minute. */
  readonly quick: boolean;
  /** A fresh place, configured for this contestant. */
  place(contestant: Contestant): Promise<BenchPlace>;
  /** Told to whoever watches. */
  say(line: string): void;
  /** A contestant that failed in a row: it is left out there, with the reason in the report. */
  skip(contestant: string, row: string, reason: string): void;
}

export type Part = (bench: Bench) => Promise<Measured[]>;
