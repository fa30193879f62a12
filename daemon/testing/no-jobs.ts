/** A session in which nothing runs in the background, and nothing can be started. */
import { JobRefused, type JobDesk } from '../tools/tool.ts';

export const noJobs: JobDesk = {
  start: () => Promise.reject(new JobRefused('no jobs here')),
  now: () => 0,
  list: () => [],
  read: () => null,
  ended: () => Promise.resolve(),
  stop: () => Promise.resolve(false),
};
