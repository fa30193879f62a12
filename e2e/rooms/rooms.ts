/**
 * The import table of the house as data: which room a source file stands in, and which rooms it may import from. Moving a room is one
 * deliberate change of the code, of this table, and of the READMEs that draw it. Types count as imports.
 *
 * A file belongs to the first row whose `files` matches. `imports` names rows; a room may always import itself and, in daemon/ and web/,
 * the language. A row with `siblings: 'none'` is many rooms in one: each of its folders is a room that may not import the others.
 */
export interface Room {
  readonly name: string;
  /** Of the path from the root, with `/`. Where siblings are none, the first group is the sibling's name. */
  readonly files: RegExp;
  readonly imports: readonly string[] | 'anything';
  readonly siblings?: 'none';
  /** Modules of Node that it may use: none at all, in the language and in the page. */
  readonly node: boolean;
}

const base = ['protocol', 'daemon/base'];
const workspace = [
  ...base,
  'daemon/log',
  'daemon/session',
  'daemon/llm',
  'daemon/pictures',
  'daemon/tools',
  'daemon/agent',
];

export const rooms: readonly Room[] = [
  // What tests say to each other is theirs: they may look into every room. Their fixtures and fakes likewise.
  { name: 'tests', files: /\.(test|bench|spec)\.ts$/, imports: 'anything', node: true },
  { name: 'e2e', files: /^e2e\//, imports: 'anything', node: true },
  { name: 'daemon/testing', files: /^daemon\/([^/]+\/)?testing\//, imports: 'anything', node: true },
  { name: 'protocol/testing', files: /^protocol\/testing\//, imports: ['protocol'], node: true },
  { name: 'web/testing', files: /^web\/lib\/testing\//, imports: 'anything', node: true },

  { name: 'protocol', files: /^protocol\//, imports: [], node: false },

  { name: 'daemon/base', files: /^daemon\/base\//, imports: ['protocol'], node: true },
  { name: 'daemon/log', files: /^daemon\/log\//, imports: base, node: true },
  { name: 'daemon/session', files: /^daemon\/session\//, imports: [...base, 'daemon/log'], node: true },
  { name: 'daemon/llm', files: /^daemon\/llm\//, imports: base, node: true },
  {
    name: 'daemon/recording',
    files: /^daemon\/recording\//,
    imports: [...base, 'daemon/llm', 'daemon/tools'],
    node: true,
  },
  { name: 'daemon/pictures', files: /^daemon\/pictures\//, imports: base, node: true },
  { name: 'daemon/tools', files: /^daemon\/tools\//, imports: [...base, 'daemon/pictures'], node: true },
  {
    name: 'daemon/agent',
    files: /^daemon\/agent\//,
    imports: [...base, 'daemon/session', 'daemon/llm', 'daemon/pictures', 'daemon/tools'],
    node: true,
  },
  {
    name: 'daemon/workspace',
    files: /^daemon\/workspace\/([^/]+)\//,
    siblings: 'none',
    imports: workspace,
    node: true,
  },
  { name: 'daemon/server', files: /^daemon\/server\//, imports: [...workspace, 'daemon/workspace'], node: true },
  // Where everything is put together: the daemon, and one run without it.
  {
    name: 'daemon/daemon.ts',
    files: /^daemon\/(daemon|one-shot|replay|model-access)\.ts$/,
    imports: [...workspace, 'daemon/recording', 'daemon/workspace', 'daemon/server'],
    node: true,
  },
  {
    name: 'daemon/cli',
    files: /^daemon\/cli\//,
    imports: [...base, 'daemon/session', 'daemon/daemon.ts', 'daemon/agent'],
    node: true,
  },
  { name: 'daemon starts', files: /^daemon\/[^/]+\.cjs$/, imports: [], node: true },

  { name: 'web/lib/base', files: /^web\/lib\/base\//, imports: [], node: false },
  { name: 'web/lib/connection', files: /^web\/lib\/connection\//, imports: ['protocol', 'web/lib/base'], node: false },
  {
    name: 'web/lib/state',
    files: /^web\/lib\/state\//,
    imports: ['protocol', 'web/lib/base', 'web/lib/connection'],
    node: false,
  },
  { name: 'web/lib/view', files: /^web\/lib\/view\//, imports: ['protocol', 'web/lib/base'], node: false },
  {
    name: 'web/lib/components/shared',
    files: /^web\/lib\/components\/shared\//,
    imports: ['web/lib/base', 'web/lib/view'],
    node: false,
  },
  {
    name: 'web/lib/components/views',
    files: /^web\/lib\/components\/views\//,
    imports: [
      'protocol',
      'web/lib/base',
      'web/lib/state',
      'web/lib/view',
      'web/lib/components/shared',
      'web/lib/components',
    ],
    node: false,
  },
  {
    name: 'web/lib/components',
    files: /^web\/lib\/components\/([^/]+)\//,
    siblings: 'none',
    imports: ['protocol', 'web/lib/base', 'web/lib/state', 'web/lib/view', 'web/lib/components/shared'],
    node: false,
  },
  {
    name: 'web/routes',
    files: /^web\/routes\//,
    imports: ['web/lib/state', 'web/lib/components/views', 'web/lib/components/shared'],
    node: false,
  },
  // What kit and the browser insist on having at the top of the web program.
  {
    name: 'web shell',
    files: /^web\/(service-worker|app\.d|hooks\.client)\.ts$/,
    imports: ['protocol', 'web/lib/base'],
    node: false,
  },
];

/** A source file, by its path from the root; what an import may lead to. */
export interface Place {
  readonly room: Room;
  /** Tells siblings apart; the room's name where there are none. */
  readonly name: string;
}

export function placeOf(file: string): Place | null {
  for (const room of rooms) {
    const match = room.files.exec(file);
    if (match === null) continue;
    return { room, name: room.siblings === 'none' ? `${room.name}/${match[1] ?? ''}` : room.name };
  }
  return null;
}

/** Null where the arrow is allowed, else a sentence. `to` is a path from the root, or a package or Node module as it was written. */
export function refuseImport(from: string, to: string): string | null {
  const place = placeOf(from);
  if (place === null) return `${from} belongs to no room: give it a place in e2e/rooms/rooms.ts.`;
  const { room } = place;
  if (to.startsWith('node:'))
    return room.node ? null : `${from} imports ${to}, but ${place.name} runs where there is no Node.`;
  if (!to.includes('/') || isPackage(to)) return null;
  if (!isSource(to) && to.split('/')[0] === from.split('/')[0]) return null;
  const target = placeOf(to);
  if (target === null) return `${from} imports ${to}, which belongs to no room.`;
  if (room.imports === 'anything' || target.name === place.name) return null;
  if (target.room === room) return `${from} imports ${to}: ${place.name} and ${target.name} are siblings.`;
  if (room.imports.includes(target.room.name)) return null;
  const allowed = room.imports.length === 0 ? 'nothing of ours' : room.imports.join(', ');
  return `${from} imports ${to}: ${place.name} may import ${allowed}, not ${target.name}.`;
}

/** Styles, pictures and data have no imports of their own; they belong to the program that they lie in. */
function isSource(to: string): boolean {
  return /\.(ts|cts|cjs|js|svelte)$/.test(to);
}

function isPackage(to: string): boolean {
  return !/^(protocol|daemon|web|e2e)\//.test(to);
}
