/**
 * The sandbox of commands: bubblewrap on Linux, seatbelt on macOS. It bounds where a command writes, and whether it reaches the network; it
 * hides Alcove's home. It is no wall around a program that somebody else runs on the command's word: a service on this machine that takes
 * orders can still be given some, where it can be reached. Invariants:
 *   B1  what is said to be in force was tried at the start; where it does not work, no command runs, and it is said what to do
 *   B2  a command is never run with less than what is said to be in force
 */
import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxLevel, SandboxState } from '#protocol/values/sandbox.ts';
import { systemCode } from '../../base/errors.ts';
import { sandboxProbeMs } from '../../base/limits.ts';
import { bubblewrap } from './bubblewrap.ts';
import { seatbelt } from './seatbelt.ts';

export interface SandboxSettings {
  readonly level: SandboxLevel;
  /** Whether commands reach the network. */
  readonly network: boolean;
  /** Absolute folders that commands may write in besides the project, such as a package manager's cache. */
  readonly writable: readonly string[];
}

/** What one command may do. All paths are absolute. */
export interface Bounds {
  readonly network: boolean;
  /** Folders in which it writes; what is not there is left out. */
  readonly writable: readonly string[];
  /** In these, files and folders that it must not change: what runs later, outside. */
  readonly kept: readonly string[];
  /** Folders that it does not see. */
  readonly hidden: readonly string[];
  /** In those, folders that it may read. */
  readonly shown: readonly string[];
  /** Where it starts. */
  readonly folder: string;
  /** What it has for /tmp: of the session's own, as the next command looks for what the last one left there. */
  readonly temporary: string;
}

/** How a system runs a program within bounds. */
export interface SandboxProgram {
  readonly program: string;
  args(bounds: Bounds): string[];
  /** Where it is missing: how it is had. */
  readonly missing: string;
  /** Where the program is there and does not work. */
  readonly unusable: string;
}

export interface SandboxedRun {
  readonly folder: string;
  readonly forbidden: readonly string[];
  readonly spills: string;
}

export class Sandbox {
  static readonly none = new Sandbox({ level: 'off', network: true, writable: [] }, null, null);

  readonly state: SandboxState;
  readonly #settings: SandboxSettings;
  readonly #how: SandboxProgram | null;
  /** By the session's own folder. */
  readonly #temporary = new Map<string, Promise<string>>();

  private constructor(settings: SandboxSettings, how: SandboxProgram | null, problem: string | null) {
    this.#settings = settings;
    this.#how = how;
    this.state = { level: settings.level, network: settings.level === 'off' || settings.network, problem };
  }

  /** Tries it (B1): a few milliseconds, once. */
  static async open(settings: SandboxSettings, environment: Readonly<Record<string, string>>): Promise<Sandbox> {
    if (settings.level === 'off') return Sandbox.none;
    const how = programOf(process.platform);
    if (how === null)
      return new Sandbox(
        settings,
        null,
        `There is no sandbox for this system (${process.platform}): set sandbox to off.`,
      );
    return new Sandbox(settings, how, await problemOf(how, settings, environment));
  }

  /** Removes the temporary folders of all sessions. */
  async close(): Promise<void> {
    const made = await Promise.allSettled(this.#temporary.values());
    this.#temporary.clear();
    for (const one of made)
      if (one.status === 'fulfilled') await rm(one.value, { recursive: true, force: true }).catch(() => undefined);
  }

  #temporaryOf(session: string): Promise<string> {
    let made = this.#temporary.get(session);
    if (made === undefined) {
      made = mkdtemp(join(tmpdir(), 'alcove-sandbox-')).then((path) => realpath(path));
      this.#temporary.set(session, made);
      made.catch(() => void this.#temporary.delete(session));
    }
    return made;
  }

  /** The program and arguments that run these within the bounds. In plan mode nothing is written (`readOnly`). */
  async wrap(
    program: string,
    args: readonly string[],
    run: SandboxedRun,
    readOnly: boolean,
  ): Promise<{ program: string; args: string[] }> {
    if (this.#how === null || this.state.level === 'off') return { program, args: [...args] };
    const writes = this.state.level === 'workspace-write' && !readOnly;
    const wanted = writes ? [run.folder, ...this.#settings.writable] : [];
    const bounds: Bounds = {
      network: this.state.network,
      writable: await existing(wanted),
      kept: writes ? await existing(hooksOf(run.folder)) : [],
      hidden: await existing(run.forbidden),
      shown: await existing([run.spills]),
      folder: run.folder,
      temporary: await this.#temporaryOf(run.spills),
    };
    return { program: this.#how.program, args: [...this.#how.args(bounds), program, ...args] };
  }
}

/** What git runs by itself, for a person who is in no sandbox. */
function hooksOf(folder: string): string[] {
  return ['hooks', 'config'].map((name) => join(folder, '.git', name));
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const there = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  return paths.filter((_, place) => there[place] !== null);
}

function programOf(platform: NodeJS.Platform): SandboxProgram | null {
  if (platform === 'linux') return bubblewrap;
  return platform === 'darwin' ? seatbelt : null;
}

/** Runs `true` within the tightest bounds that will be asked for. */
async function problemOf(
  how: SandboxProgram,
  settings: SandboxSettings,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  const bounds: Bounds = {
    network: settings.network,
    writable: [],
    kept: [],
    hidden: [],
    shown: [],
    folder: '/',
    temporary: tmpdir(),
  };
  const tried = await new Promise<{ error: Error; said: string } | null>((resolve) => {
    execFile(
      how.program,
      [...how.args(bounds), '/bin/sh', '-c', ':'],
      { env: { ...environment }, timeout: sandboxProbeMs },
      (error, _, said) => resolve(error === null ? null : { error, said: said.trim() }),
    );
  });
  if (tried === null) return null;
  if (systemCode(tried.error) === 'ENOENT') return `${how.missing} Or set sandbox to off.`;
  return `${how.unusable} (${tried.said.split('\n', 1)[0] || tried.error.message}). Mend that, or set sandbox to off.`;
}
