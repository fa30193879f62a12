/** Which arch a session's row carries, and the few words under its title. Out of touch, what moved is not known to move still; what waits for a person waits. */
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import type { ArchState } from '../shared/arch.ts';

export function archOf(summary: SessionSummary, known: { unread: boolean; inTouch: boolean }): ArchState {
  if (summary.problem !== null) return 'failed';
  switch (summary.state) {
    case 'waiting':
      return 'waiting';
    case 'running':
    case 'pausing':
      return known.inTouch ? 'running' : 'lost';
    case 'paused':
      return 'paused';
    case 'queued':
      return 'queued';
    case 'failed':
    case 'interrupted':
      return 'failed';
    case 'idle':
      return known.unread ? 'unread' : 'seen';
  }
}

/** What it does, or where it stands; null where the arch says it all. */
export function standingOf(summary: SessionSummary): string | null {
  if (summary.problem !== null) return summary.problem;
  if (summary.owner !== null) return summary.owner;
  switch (summary.state) {
    case 'running':
    case 'waiting':
      return summary.activity;
    case 'pausing':
      return 'pausing after this step';
    case 'paused':
      return 'paused';
    case 'queued':
      return 'queued';
    case 'failed':
      return 'failed';
    case 'interrupted':
      return 'interrupted when the daemon stopped';
    case 'idle':
      return null;
  }
}
