/** What holds the commands of an agent back, besides questions: the system's own means, where it has them and a person wants them. */
import { z } from '../schema.ts';

/**
 * `off`: commands run with the person's own rights. `workspace-write`: they write in the project and in a temporary folder of their own.
 * `read-only`: in that folder alone.
 */
export const sandboxLevel = z.enum(['off', 'workspace-write', 'read-only']);
export type SandboxLevel = z.infer<typeof sandboxLevel>;

/** What is in force. `problem`: it was asked for and cannot be had, so that no command runs; with what to do. */
export const sandboxState = z.object({ level: sandboxLevel, network: z.boolean(), problem: z.nullable(z.string()) });
export type SandboxState = z.infer<typeof sandboxState>;

/** In a sentence or two, for whoever is about to let something run. */
export function sandboxWords({ level, network, problem }: SandboxState): string {
  if (problem !== null) return `No command runs: ${problem}`;
  if (level === 'off') return 'Tools run with your own rights; there is no sandbox.';
  const where =
    level === 'read-only'
      ? 'only in a temporary folder of their own'
      : 'only in the project and a temporary folder of their own';
  return `Commands run in a sandbox: they write ${where}${network ? '' : ', and reach no network'}. Files are read and edited with your own rights.`;
}

export const noSandbox: SandboxState = { level: 'off', network: true, problem: null };
