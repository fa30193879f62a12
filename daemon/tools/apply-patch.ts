/**
 * `apply_patch`: adds, updates, moves and deletes several files by one call, in the format that Codex models know (TL8). The text is read in
 * patch-text.ts, hunks are located in patch-hunks.ts; here stands what makes it one change: everything is worked out before anything is
 * written, each file is replaced whole, and where the disk refuses one, those already written are put back.
 */
import { dirname } from 'node:path';
import { maxEditFileBytes, maxPatchFiles, maxPatchPathBytes } from '../base/limits.ts';
import { ArgumentProblem, pick, prepareWith, type Arguments } from './arguments.ts';
import { CallPlace } from './call-place.ts';
import { describeChanges, type ChangedFile } from './file-change.ts';
import type { FileQueue } from './file-queue.ts';
import { refuseStale, rememberShown, stampOf } from './file-stamp.ts';
import { applyHunks } from './patch-hunks.ts';
import { parsePatch, PatchProblem, type FilePatch } from './patch-text.ts';
import { removeEmptyFolders } from './held-folder.ts';
import type { Place } from './paths.ts';
import {
  FileRefused,
  readWhole,
  removeFile,
  replaceFile,
  tooLarge,
  writableFacts,
  type Facts,
} from './replace-file.ts';
import { completed, failed, refusalOf } from './result.ts';
import type { Assessment, PreparedCall, TemporaryLedger, Tool, ToolEnvironment, ToolResult } from './tool.ts';

export function applyPatchTool(queue: FileQueue): Tool {
  return {
    name: 'apply_patch',
    description:
      'Changes several files by one patch, all or none: "*** Begin Patch", then for each file "*** Add File: PATH" with "+" lines, ' +
      '"*** Delete File: PATH", or "*** Update File: PATH" (then optionally "*** Move to: PATH") with hunks, then "*** End Patch". ' +
      'A hunk is "@@", optionally with a line above it such as a function\'s first, then lines that begin with " " (unchanged), "-" or "+"; ' +
      'give three unchanged lines around each change. "*** End of File" ends a hunk at the end.',
    parameters: {
      type: 'object',
      properties: { patch: { type: 'string', description: 'The whole patch.' } },
      required: ['patch'],
    },
    readOnly: false,
    prepare: (args) =>
      prepareWith(() => {
        const files = patchArgument(args);
        return preparedPatch(queue, files);
      }),
  };
}

function patchArgument(args: Arguments): readonly FilePatch[] {
  const given = pick(args, ['patch', 'input', 'patchText', 'patch_text', 'diff']);
  // As it is called on a command line.
  const text = Array.isArray(given) ? (given as unknown[]).at(-1) : given;
  if (typeof text !== 'string' || text.trim() === '')
    throw new ArgumentProblem('"patch" is missing: give the whole patch as a string.');
  try {
    const files = parsePatch(text);
    if (files.length > maxPatchFiles)
      throw new ArgumentProblem(`A patch changes ${maxPatchFiles} files at most (maxPatchFiles): make several of it.`);
    return files;
  } catch (error) {
    if (error instanceof PatchProblem) throw new ArgumentProblem(error.message);
    throw error;
  }
}

function preparedPatch(queue: FileQueue, files: readonly FilePatch[]): PreparedCall {
  const paths = [...new Set(files.map((file) => (file.kind === 'update' && file.movedTo) || file.path))];
  const target = paths.length <= 3 ? paths.join(', ') : `${paths.slice(0, 2).join(', ')} and ${paths.length - 2} more`;
  const callPlaces = files.flatMap((file) => {
    const one = new CallPlace(file.path, file.kind === 'add' ? 'what may be new' : 'what is there');
    return file.kind === 'update' && file.movedTo !== null
      ? [one, new CallPlace(file.movedTo, 'what may be new')]
      : [one];
  });
  return {
    display: {
      title: 'Patch',
      kind: 'edit',
      target,
      ...(paths.length > 1 ? { summary: `${paths.length} files` } : {}),
    },
    assess: (environment) => assess(environment, files, callPlaces),
    execute: (environment, signal) =>
      queue.runAll(
        () => each(callPlaces, (one) => one.find(environment)),
        (places) => change(environment, files, places, signal),
      ),
  };
}

/** Where each path that the patch names leads, in its order. */
async function each(
  callPlaces: readonly CallPlace[],
  find: (one: CallPlace) => Promise<Place>,
): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (const one of callPlaces) places.push(await find(one));
  return places;
}

async function assess(
  environment: ToolEnvironment,
  files: readonly FilePatch[],
  callPlaces: readonly CallPlace[],
): Promise<Assessment> {
  const places = await each(callPlaces, (one) => one.judge(environment));
  const refused = refusalIn(places);
  if (refused !== null) return { effect: 'refused', reason: refused };
  const cautions = new Set(places.flatMap(({ toChange }) => (toChange.kind === 'asks' ? [toChange.why] : [])));
  const shown = [...new Set(places.map((place) => place.shown))];
  try {
    const plan = await planOf(environment, files, places);
    for (const { place, before, after } of plan)
      if (after === null) rememberShown(environment.filesSeen, place, before);
    return {
      effect: 'change',
      caution: cautions.size === 0 ? null : [...cautions].join(' '),
      preview: await describeChanges(environment, told(plan)),
      rulePattern: `apply_patch ${shown.toSorted().join(' ')}`,
      subjects: shown,
    };
  } catch (error) {
    return { effect: 'refused', reason: refusalOf(error, shown.join(', ')) };
  }
}

function refusalIn(places: readonly Place[]): string | null {
  for (const { toChange } of places) if (toChange.kind === 'refused') return `${toChange.why} No file was changed.`;
  return null;
}

async function change(
  environment: ToolEnvironment,
  files: readonly FilePatch[],
  places: readonly Place[],
  signal: AbortSignal,
): Promise<ToolResult> {
  const refused = refusalIn(places);
  if (refused !== null) return failed(refused);
  try {
    const plan = await planOf(environment, files, places);
    // Blobs first: a change that cannot be undone must not happen.
    const details = await describeChanges(environment, told(plan));
    if (signal.aborted) return failed('The patch was stopped before it began; no file was changed.');
    await carryOut(plan, environment.temporaries);
    for (const { place, after } of plan) if (after !== null) environment.filesSeen.set(place.real, stampOf(after));
    const lines = details.files.map(
      ({ path, movedFrom, change, added, removed }) =>
        `${movedFrom !== undefined ? `Moved ${movedFrom} to` : change === 'created' ? 'Added' : change === 'deleted' ? 'Deleted' : 'Updated'} ${path}: +${added} -${removed} lines.`,
    );
    return completed(lines.join('\n'), details);
  } catch (error) {
    return failed(refusalOf(error, [...new Set(places.map((place) => place.shown))].join(', ')));
  }
}

/** One file that will be another afterwards. */
interface Planned {
  readonly place: Place;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
  /** Its mode and owner before. */
  readonly facts: Facts | null;
  /** What was moved here, as it was; the place that it leaves has a plan of its own, which is not told. */
  readonly from: State | null;
  readonly told: boolean;
}

function told(plan: readonly Planned[]): ChangedFile[] {
  return plan.flatMap(({ place, before, after, from, told }) => {
    if (!told) return [];
    if (from === null) return [{ path: place.shown, before, after }];
    return [{ path: place.shown, movedFrom: from.place.shown, before: from.before, after }];
  });
}

/** The patch worked through on the content that the files have now. Throws FileRefused or what the system says; changes nothing. */
async function planOf(
  environment: ToolEnvironment,
  files: readonly FilePatch[],
  places: readonly Place[],
): Promise<Planned[]> {
  if (Buffer.byteLength(JSON.stringify(places.map((place) => place.shown))) > maxPatchPathBytes)
    throw refusal(
      `The paths of the patch have more than ${maxPatchPathBytes} bytes (maxPatchPathBytes): make several of it.`,
    );
  const states = new Map<string, State>();
  const rest = [...places];
  for (const [index, file] of files.entries()) {
    const name = files.length === 1 ? '' : ` (file ${index + 1} of ${files.length})`;
    const place = rest.shift() as Place;
    const state = await stateOf(states, environment, place);
    switch (file.kind) {
      case 'add':
        if (state.now !== null)
          throw refusal(`${place.shown}${name} exists already: use "*** Update File:", or delete it first.`);
        state.now = Buffer.from(file.content, 'utf8');
        break;
      case 'delete':
        if (state.now === null) throw refusal(`${place.shown}${name} does not exist, so it cannot be deleted.`);
        if (place.isLink) throw refusal(`${place.shown}${name} is reached through a link: remove that by a command.`);
        state.now = null;
        break;
      case 'update': {
        if (state.now === null) throw refusal(`${place.shown}${name} does not exist; a new file is "*** Add File:".`);
        const patched =
          file.hunks.length === 0 ? { ok: true as const, bytes: state.now } : applyHunks(state.now, file.hunks);
        if (!patched.ok) throw refusal(`${place.shown}${name} could not be patched. ${patched.problem}`);
        if (patched.bytes.length > maxEditFileBytes) throw new FileRefused(tooLarge(place.shown, patched.bytes.length));
        if (file.movedTo === null) {
          state.now = patched.bytes;
          break;
        }
        const target = rest.shift() as Place;
        if (target.real === place.real) {
          state.now = patched.bytes;
          break;
        }
        const moved = await stateOf(states, environment, target);
        if (moved.now !== null) throw refusal(`${target.shown}${name} exists already, so nothing is moved there.`);
        if (place.isLink) throw refusal(`${place.shown}${name} is reached through a link: move that by a command.`);
        moved.now = patched.bytes;
        moved.from = state;
        state.now = null;
      }
    }
  }
  const plan = planned([...states.values()]);
  if (plan.length === 0) throw refusal('The patch would change nothing: the files are already as it says.');
  return plan;
}

function refusal(message: string): FileRefused {
  return new FileRefused(`${message}\nNo file was changed.`);
}

interface State {
  readonly place: Place;
  readonly before: Buffer | null;
  readonly facts: Facts | null;
  now: Buffer | null;
  from: State | null;
}

async function stateOf(states: Map<string, State>, environment: ToolEnvironment, place: Place): Promise<State> {
  const known = states.get(place.real);
  if (known !== undefined) return known;
  const { before, facts } = await read(place);
  if (before !== null) refuseStale(environment.filesSeen, place, before, 'patch');
  const state: State = { place, before, facts, now: before, from: null };
  states.set(place.real, state);
  return state;
}

/** What the system says is told of this file, and not of all. */
async function read(place: Place): Promise<{ before: Buffer | null; facts: Facts | null }> {
  try {
    const before = await readWhole(place.real, place.shown);
    return { before, facts: before === null ? null : await writableFacts(place.real, place.shown) };
  } catch (error) {
    throw refusal(refusalOf(error, place.shown));
  }
}

/** Files that are written come first, those that go last: what is moved is never nowhere. */
function planned(states: readonly State[]): Planned[] {
  const changed = states.filter(({ before, now }) =>
    before === null || now === null ? before !== now : !before.equals(now),
  );
  const moves = new Map(changed.map((state) => [state, sourceOf(state)]));
  const left = new Set(moves.values());
  const all = changed.map((state): Planned => {
    const { place, before, now, facts } = state;
    return { place, before, after: now, facts, from: moves.get(state) ?? null, told: !left.has(state) };
  });
  return [...all.filter(({ after }) => after !== null), ...all.filter(({ after }) => after === null)];
}

/** Only what is new where it is now, and gone where it was, counts as moved. */
function sourceOf({ before, now, from }: State): State | null {
  const moved = before === null && now !== null && from !== null && from.before !== null && from.now === null;
  return moved ? from : null;
}

interface Done {
  readonly planned: Planned;
  /** The outermost folder that was made for it. */
  readonly made: string | null;
}

async function carryOut(plan: readonly Planned[], temporaries: TemporaryLedger): Promise<void> {
  const done: Done[] = [];
  for (const planned of plan) {
    const { place, before, after, from } = planned;
    try {
      done.push({ planned, made: await put(place, after, before, from?.facts ?? null, temporaries) });
    } catch (error) {
      throw new FileRefused(`${refusalOf(error, place.shown)} ${await putBack(done.toReversed(), temporaries)}`, {
        cause: error,
      });
    }
  }
}

/** Null is no file. Returns the outermost folder that was made. Throws, and changes nothing, where the file is no longer as `expected`. */
async function put(
  place: Place,
  bytes: Buffer | null,
  expected: Buffer | null,
  like: Facts | null,
  temporaries: TemporaryLedger,
): Promise<string | null> {
  if (bytes !== null) return replaceFile(place.real, place.shown, bytes, expected, temporaries, like);
  if (expected !== null) await removeFile(place.real, place.shown, expected);
  return null;
}

/** Says what is so afterwards. */
async function putBack(done: readonly Done[], temporaries: TemporaryLedger): Promise<string> {
  const kept: string[] = [];
  for (const { planned, made } of done) {
    const { place, before, after, facts } = planned;
    try {
      await put(place, before, after, facts, temporaries);
      if (made !== null) await removeEmptyFolders(dirname(place.real), made);
    } catch (error) {
      kept.push(refusalOf(error, place.shown));
    }
  }
  if (kept.length > 0)
    return `What had been written before was to be put back, but not all could be: ${kept.join(' ')} Look at these files before going on.`;
  return done.length === 0 ? 'No file was changed.' : 'What had been written before was put back: no file is changed.';
}
