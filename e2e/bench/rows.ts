/**
 * Every row of the table: what it says to people, the target it is held to, and how far it may get worse before `--check` fails. Targets and
 * checks are ratios to a named contestant of the same run wherever time, memory or processor are measured; machines differ and are shared.
 */

export const partNames = [
  'headless',
  'serve',
  'streaming',
  'pixels',
  'history',
  'list',
  'load',
  'kills',
  'micro',
] as const;
export type PartName = (typeof partNames)[number];

export type Unit = 'ms' | 's' | 'MiB' | 'kB' | 'bytes' | '%' | 'x' | 'share' | 'count';

/** What a figure is compared to: another contestant in the same row, or in a row of the same part. */
export interface Reference {
  readonly contestant: string;
  readonly row?: string;
}

/** Without `of`, in the unit of the row. */
export type Target =
  { readonly most: number; readonly of?: Reference } | { readonly least: number; readonly of?: Reference };

export interface Check {
  /** `start` and `step` are the floor's, taken around the same part (yardstick.ts). Null: the figure depends on no machine. */
  readonly against: Reference | 'start' | 'step' | null;
  /** How much worse than the baseline is still noise: 0.2 for a fifth. Chosen against the spread of quiet and busy runs of one build. */
  readonly tolerance: number;
}

export interface Row {
  readonly id: string;
  readonly part: PartName;
  readonly words: string;
  readonly unit: Unit;
  readonly better: 'less' | 'more';
  readonly target: Target | null;
  /** Null for what takes too long, or is too noisy, to be looked at in minutes. */
  readonly check: Check | null;
}

type Words = Omit<Row, 'id' | 'part' | 'better' | 'target' | 'check'> & Partial<Row>;

const floor: Reference = { contestant: 'floor' };
const direct: Reference = { contestant: 'direct' };
const codex: Reference = { contestant: 'codex' };

export const rows: readonly Row[] = [
  ...of('headless', {
    step: {
      words: 'time of a step, over 20 steps',
      unit: 'ms',
      target: { most: 1.5, of: floor },
      check: { against: floor, tolerance: 0.3 },
    },
    growth: {
      words: 'the last 40 of 1,000 steps to the first 40',
      unit: 'x',
      target: { most: 1.1 },
      check: { against: null, tolerance: 0.2 },
    },
    start: {
      words: 'start to the first request',
      unit: 'ms',
      target: { most: 0.6, of: codex },
      check: { against: floor, tolerance: 0.25 },
    },
    cpu: {
      words: 'processor time of the whole run',
      unit: 's',
      target: { most: 0.5, of: codex },
      check: { against: floor, tolerance: 0.2 },
    },
    memory: {
      words: 'peak memory, largest process',
      unit: 'MiB',
      target: { most: 0.75, of: codex },
      check: { against: floor, tolerance: 0.1 },
    },
    request: {
      words: 'system prompt and tools of the first request',
      unit: 'bytes',
      target: { most: 10 * 1024 },
      check: { against: null, tolerance: 0.05 },
    },
    disk: {
      // The target for disk is that of a session at rest in a server: history.disk.
      words: 'disk right after 1,000 steps, to the JSON of the last request',
      unit: 'x',
      check: { against: null, tolerance: 0.1 },
    },
  }),
  ...of('serve', {
    start: {
      words: 'start to the first authenticated answer',
      unit: 'ms',
      target: { most: 1.3, of: codex },
      check: { against: 'start', tolerance: 0.3 },
    },
    'idle-memory': {
      words: 'memory at rest, a client connected',
      unit: 'MiB',
      target: { most: 0.7, of: codex },
    },
    'idle-cpu': { words: 'processor at rest, a client connected', unit: '%', target: { most: 0.1 } },
  }),
  ...of('streaming', {
    'one.p50': { words: 'piece to client, one session at 2 ms: median', unit: 'ms' },
    'one.p99': { words: 'piece to client, one session at 2 ms: 99 of 100', unit: 'ms' },
    'one.cpu': { words: 'processor for a piece, one session at 2 ms', unit: 'ms' },
    'ten.p50': {
      words: 'piece to client, ten sessions at 20 ms: median',
      unit: 'ms',
      target: { most: 2, of: codex },
      check: { against: direct, tolerance: 0.6 },
    },
    'ten.p99': { words: 'piece to client, ten sessions at 20 ms: 99 of 100', unit: 'ms', target: { most: 16 } },
    'ten.cpu': { words: 'processor for a piece, ten sessions at 20 ms', unit: 'ms' },
    'flood.p50': { words: 'piece to client, ten sessions at 2 ms: median', unit: 'ms' },
    'flood.p99': { words: 'piece to client, ten sessions at 2 ms: 99 of 100', unit: 'ms' },
    'flood.time': {
      words: 'time for 5,000 pieces, ten sessions at 2 ms',
      unit: 'ms',
      target: { most: 1.15, of: direct },
      check: { against: direct, tolerance: 0.15 },
    },
  }),
  ...of('pixels', {
    p50: { words: 'piece to the frame that shows it, ten sessions streaming: median', unit: 'ms' },
    p99: {
      words: 'piece to the frame that shows it, ten sessions streaming: 99 of 100',
      unit: 'ms',
      target: { most: 50 },
    },
    'long-tasks': { words: 'tasks of the page over 50 ms meanwhile', unit: 'count', target: { most: 0 } },
  }),
  ...of('history', {
    page: {
      words: 'first page of a session of 1,000 calls after a start',
      unit: 'ms',
      target: { most: 2, of: codex },
      check: { against: 'step', tolerance: 0.6 },
    },
    'page-bytes': { words: 'size of that page', unit: 'bytes' },
    'page-one-turn': { words: 'the same, all of it one turn', unit: 'ms', check: { against: 'step', tolerance: 0.6 } },
    'page-one-turn-bytes': { words: 'size of that page', unit: 'bytes' },
    'page-million': {
      words: 'the same of 1,000,000 events',
      unit: 'ms',
      target: { most: 1.2, of: { contestant: 'alcove', row: 'history.page' } },
    },
    'page-million-bytes': { words: 'size of that page', unit: 'bytes' },
    'page-million-one-turn': {
      words: 'the same of 1,000,000 events, all of them one turn',
      unit: 'ms',
      target: { most: 1.2, of: { contestant: 'alcove', row: 'history.page' } },
    },
    'page-million-one-turn-bytes': { words: 'size of that page', unit: 'bytes' },
    disk: {
      words: 'disk for the session of 1,000 calls, to the JSON of its history',
      unit: 'x',
      target: { most: 0.35 },
      check: { against: null, tolerance: 0.1 },
    },
  }),
  ...of('list', {
    '200': {
      words: 'list of 200 sessions',
      unit: 'ms',
      target: { most: 0.3, of: { contestant: 'opencode' } },
      check: { against: 'step', tolerance: 0.6 },
    },
    '10000': {
      words: 'first page of 10,000 sessions',
      unit: 'ms',
      target: { most: 1.5, of: { contestant: 'alcove', row: 'list.200' } },
    },
  }),
  ...of('load', {
    script: {
      words: 'first load: scripts, gzip',
      unit: 'kB',
      target: { most: 150 },
      check: { against: null, tolerance: 0.03 },
    },
    'session-script': {
      words: "the same with a session's page",
      unit: 'kB',
      check: { against: null, tolerance: 0.03 },
    },
    wire: { words: 'first load: everything, as sent', unit: 'kB', check: { against: null, tolerance: 0.05 } },
    later: { words: 'stored for later by the service worker, as sent', unit: 'kB' },
    requests: { words: 'first load: requests', unit: 'count' },
    uncompressed: {
      words: 'answers that were sent without compression',
      unit: 'count',
      target: { most: 0 },
      check: { against: null, tolerance: 0 },
    },
    uncached: {
      words: 'files that say nothing of how long they may be kept',
      unit: 'count',
      target: { most: 0 },
      check: { against: null, tolerance: 0 },
    },
    outside: {
      words: 'asked for from outside',
      unit: 'count',
      target: { most: 0 },
      check: { against: null, tolerance: 0 },
    },
  }),
  ...of(
    'load',
    {
      '100': { words: 'open a session of 100 events: its newest words are painted', unit: 'ms' },
      '100-bytes': { words: 'transferred for the session of 100 events', unit: 'kB' },
      '100000': {
        words: 'open a session of 100,000 events: its newest words are painted',
        unit: 'ms',
        target: { most: 1.5, of: { contestant: 'alcove', row: 'open.100' } },
        check: { against: { contestant: 'alcove', row: 'open.100' }, tolerance: 0.5 },
      },
      '100000-bytes': {
        words: 'transferred for that of 100,000 events',
        unit: 'kB',
        target: { most: 200 },
        check: { against: null, tolerance: 0.1 },
      },
    },
    'open',
  ),
  ...of('kills', {
    tool: {
      words: 'killed in a tool: its process is gone, the session goes on',
      unit: 'share',
      better: 'more',
      target: { least: 1 },
      check: { against: null, tolerance: 0 },
    },
    reply: {
      words: 'killed in a reply: every word that was seen is kept',
      unit: 'share',
      better: 'more',
      target: { least: 1 },
      check: { against: null, tolerance: 0 },
    },
    acknowledged: {
      words: 'killed right behind an acknowledgement: the input is kept',
      unit: 'share',
      better: 'more',
      target: { least: 1 },
      check: { against: null, tolerance: 0 },
    },
  }),
  ...of('micro', {
    'write-page': ofLimit('events to a frame of 64 KiB, to JSON and zstd alone', 0.7),
    'write-delta': ofLimit('one delta to a frame, to JSON and zstd alone', 0.7),
    append: ofLimit('one delta into the file, to JSON, zstd and a write alone', 0.7),
    'read-page': ofLimit('a frame of 64 KiB to events, to zstd and JSON alone', 0.6),
    'read-delta': ofLimit('a frame of one delta to its event, to zstd and JSON alone', 0.6),
    'read-log': ofLimit('a log to its events, to the file, zstd and JSON alone', 0.6),
    // How it stands depends on when memory is collected.
    fold: ofLimit('fold of 20,000 events, to JSON.parse of them', null, 0.7),
    'fold-token': ofLimit('fold of a delta after 800 steps, to one in the first', 0.8),
    project: ofLimit('first request of a session of 1,000 steps, to JSON.stringify of it', null),
    'project-step': ofLimit('its next request, to JSON.stringify of it', 1),
  }),
];

/** A share of the speed that nobody can exceed who does the same work. Both are measured one after the other: shares of one build differ by a third. */
function ofLimit(words: string, least: number | null, tolerance = 0.5): Words {
  const target = least === null ? null : { least };
  return { words, unit: 'x', better: 'more', target, check: { against: null, tolerance } };
}

export function rowOf(id: string): Row | null {
  return rows.find((row) => row.id === id) ?? null;
}

function of(part: PartName, named: Readonly<Record<string, Words>>, prefix: string = part): Row[] {
  return Object.entries(named).map(([name, words]) => ({
    part,
    better: 'less',
    target: null,
    check: null,
    ...words,
    id: `${prefix}.${name}`,
  }));
}
