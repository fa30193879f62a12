/** The eight states of the arch, this app's one sign, and what each is called aloud. Shape tells them apart before colour does. */
export type ArchState = 'running' | 'waiting' | 'unread' | 'seen' | 'failed' | 'paused' | 'queued' | 'lost';

export const archNames: Record<ArchState, string> = {
  running: 'Running',
  waiting: 'Needs you',
  unread: 'Finished, unread',
  seen: 'Seen',
  failed: 'Failed',
  paused: 'Paused',
  queued: 'Queued',
  lost: 'Out of touch',
};
