/** A folder that sessions work in. Removing hides it; its files and logs are untouched. */
import { z } from '../schema.ts';
import { projectId } from './ids.ts';

export const project = z.object({
  projectId,
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  /** Absolute, symlinks resolved. */
  path: z.string().check(z.minLength(1), z.maxLength(4096)),
  addedAt: z.number(),
});
export type Project = z.infer<typeof project>;
