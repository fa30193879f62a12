/**
 * The process groups that a session's tools have started and not yet seen end, in a file beside its lock: so that the next start of a killed
 * daemon ends those that still run, and says so. Children also carry the session's mark in their environment, by which one is found that left
 * its group. For the holder of the session's lock.
 */
import { open, readFile, rm, type FileHandle } from 'node:fs/promises';
import { systemCode } from '../base/errors.ts';
import { ownerOnlyFileMode } from '../base/files.ts';
import { endProcesses, findFamily, findMarked, processStartTime, type ProcessGroup } from '../base/process-table.ts';
import { SerialQueue } from '../base/serial.ts';
import type { ProcessLedger } from '../tools/tool.ts';

type Entry = { started: ProcessGroup } | { ended: number };

export class SessionProcesses implements ProcessLedger {
  readonly mark: string;
  readonly #path: string;
  readonly #writes = new SerialQueue();
  readonly #running = new Map<number, ProcessGroup>();
  #file: FileHandle | null = null;
  #everStarted = false;

  constructor(path: string, mark: string) {
    this.#path = path;
    this.mark = mark;
  }

  started(group: ProcessGroup): Promise<void> {
    return this.#writes.run(async () => {
      this.#everStarted = true;
      this.#running.set(group.pid, group);
      await this.#write({ started: group });
    });
  }

  ended({ pid }: { pid: number }): Promise<void> {
    return this.#writes.run(async () => {
      this.#running.delete(pid);
      // With nothing running the file says nothing: it stays short however long a session lives.
      if (this.#running.size === 0) await this.#file?.truncate(0);
      else await this.#write({ ended: pid });
    });
  }

  /** Ends everything that the session's tools left running. */
  async endAll(): Promise<void> {
    if (this.#everStarted) await endFamilies([...this.#running.values()], this.mark);
    await this.#file?.close();
    this.#file = null;
    await rm(this.#path, { force: true });
  }

  async #write(entry: Entry): Promise<void> {
    this.#file ??= await open(this.#path, 'a', ownerOnlyFileMode);
    await this.#file.appendFile(`${JSON.stringify(entry)}\n`);
  }
}

/** Ends what a killed process of ours left running, by the file it left. Returns how many processes were found alive. */
export async function endOrphans(path: string, mark: string): Promise<number> {
  const groups = await left(path);
  if (groups === null) return 0;
  const ours: ProcessGroup[] = [];
  for (const group of groups) if ((await processStartTime(group.pid)) === group.startTime) ours.push(group);
  const found = await endFamilies(ours, mark);
  await rm(path, { force: true });
  return found;
}

async function endFamilies(groups: readonly ProcessGroup[], mark: string): Promise<number> {
  const find = async () => {
    const families =
      groups.length === 0
        ? [await findMarked(mark)]
        : await Promise.all(groups.map((group) => findFamily(group.pid, mark)));
    return [...new Set(families.flat())];
  };
  const found = (await find()).length;
  if (found > 0) await endProcesses(find);
  return found;
}

/** The groups without an end; null where no file was left. A last line cut by a crash is of a group that never passed its gate. */
async function left(path: string): Promise<ProcessGroup[] | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  const running = new Map<number, ProcessGroup>();
  for (const line of text.split('\n').slice(0, -1)) {
    const entry = JSON.parse(line) as Entry;
    if ('started' in entry) running.set(entry.started.pid, entry.started);
    else running.delete(entry.ended);
  }
  return [...running.values()];
}
