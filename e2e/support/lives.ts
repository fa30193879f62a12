/** Whether a process runs. */
import { readFileSync } from 'node:fs';

/** One that has ended and was not fetched by its parent does not. */
export function lives(pid: number): boolean {
  if (!(pid > 0)) throw new Error('no process id was written');
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    if (process.platform === 'linux') return false;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
