/**
 * The process groups that a session's tools have started and not yet seen end, and the temporary files that they are writing, in a file beside
 * its lock: so that the next start of a killed daemon ends those that still run, and says so, and removes what was half written. Children also
 * carry the session's mark in their environment, by which one is found that left its group. For the holder of the session's lock.
 */
import { open, readFile, rm, type FileHandle } from 'node:fs/promises';
import { systemCode } from '../base/errors.ts';
import { ownerOnlyFileMode } from '../base/files.ts';
import { endProcesses, findFamily, findMarked, processStartTime, type ProcessGroup } from '../base/process-table.ts';
import { SerialQueue } from '../base/serial.ts';
import { removeTemporary } from '../tools/replace-file.ts';
import type { ProcessLedger, TemporaryLedger } from '../tools/tool.ts';

type Entry = { started: ProcessGroup } | { ended: number } | { writing: string } | { written: string };

export class SessionProcesses implements ProcessLedger, TemporaryLedger {
  readonly mark: string;
  readonly #path: string;
  readonly #writes = new SerialQueue();
  readonly #running = new Map<number, ProcessGroup>();
  readonly #writing = new Set<string>();
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
      await this.#writeEnd({ ended: pid });
    });
  }

  writing(path: string): Promise<void> {
    return this.#writes.run(async () => {
      this.#writing.add(path);
      await this.#write({ writing: path });
    });
  }

  written(path: string): Promise<void> {
    return this.#writes.run(async () => {
      this.#writing.delete(path);
      await this.#writeEnd({ written: path });
    });
  }

  /** Whether anything that the session's tools started still runs. */
  async anyRunning(): Promise<boolean> {
    if (!this.#everStarted) return false;
    return (await familiesOf(await stillThere(this.#running.values()), this.mark)).length > 0;
  }

  /** Ends everything that the session's tools left running. */
  async endAll(): Promise<void> {
    if (this.#everStarted) await endFamilies(await stillThere(this.#running.values()), this.mark);
    await this.#file?.close();
    this.#file = null;
    await rm(this.#path, { force: true });
  }

  /** With nothing running the file says nothing: it stays short however long a session lives. */
  async #writeEnd(entry: Entry): Promise<void> {
    if (this.#running.size + this.#writing.size === 0) await this.#file?.truncate(0);
    else await this.#write(entry);
  }

  async #write(entry: Entry): Promise<void> {
    this.#file ??= await open(this.#path, 'a', ownerOnlyFileMode);
    await this.#file.appendFile(`${JSON.stringify(entry)}\n`);
  }
}

/** Ends what a killed process of ours left running, and removes what it left half written, by the file it left. Returns how many processes were found alive. */
export async function endOrphans(path: string, mark: string): Promise<number> {
  const entries = await left(path);
  if (entries === null) return 0;
  const found = await endFamilies(await stillThere(entries.running), mark);
  for (const temporary of entries.writing) await removeTemporary(temporary);
  await rm(path, { force: true });
  return found;
}

/** Groups whose leader is the one that was started: a pid that came back belongs to somebody else. What a dead leader left is found by its mark. */
async function stillThere(groups: Iterable<ProcessGroup>): Promise<ProcessGroup[]> {
  const ours: ProcessGroup[] = [];
  for (const group of groups) if ((await processStartTime(group.pid)) === group.startTime) ours.push(group);
  return ours;
}

async function endFamilies(groups: readonly ProcessGroup[], mark: string): Promise<number> {
  const find = () => familiesOf(groups, mark);
  const found = (await find()).length;
  if (found > 0) await endProcesses(find);
  return found;
}

async function familiesOf(groups: readonly ProcessGroup[], mark: string): Promise<number[]> {
  if (groups.length === 0) return findMarked(mark);
  const families = await Promise.all(groups.map((group) => findFamily(group.pid, mark)));
  return [...new Set(families.flat())];
}

/** What has no end; null where no file was left. A line that a crash cut is of a group that never passed its gate; what else cannot be read is left to the mark. */
async function left(path: string): Promise<{ running: ProcessGroup[]; writing: string[] } | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  const running = new Map<number, ProcessGroup>();
  const writing = new Set<string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const entry = entryOf(line);
    if (entry === null) continue;
    if ('started' in entry) running.set(entry.started.pid, entry.started);
    else if ('ended' in entry) running.delete(entry.ended);
    else if ('writing' in entry) writing.add(entry.writing);
    else writing.delete(entry.written);
  }
  return { running: [...running.values()], writing: [...writing] };
}

function entryOf(line: string): Entry | null {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return null;
  }
}
