/**
 * `edit`: replaces texts in one file (TL1-TL4). What is replaced is decided in replacement.ts; here stand the arguments in all forms that
 * models use, the check that the file is the one they saw, and the order of writers. Undo is built on the blobs that every change leaves.
 */
import { ArgumentProblem, flagArgument, pathArgument, pick, prepareWith, type Arguments } from './arguments.ts';
import { CallPlace } from './call-place.ts';
import { describeChange } from './file-change.ts';
import type { FileQueue } from './file-queue.ts';
import { refuseStale, stampOf } from './file-stamp.ts';
import type { Place } from './paths.ts';
import { FileRefused, readWhole, replaceFile } from './replace-file.ts';
import { replaceTexts, type TextEdit } from './replacement.ts';
import { completed, failed, refusalOf } from './result.ts';
import type { Assessment, PreparedCall, Tool, ToolEnvironment, ToolResult } from './tool.ts';

export function editTool(queue: FileQueue): Tool {
  return {
    name: 'edit',
    description:
      'Replaces text in one file. Each oldText must be in the file exactly once (add lines around it until it is), copied exactly as read ' +
      'shows it, without the line numbers. All edits refer to the file as it is now and must not overlap; if one does not fit, none is done. ' +
      'Line ends and everything else in the file stay as they are.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'File to change, relative to the project or absolute.' },
        edits: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            properties: {
              oldText: { type: 'string', description: 'Text that is in the file exactly once.' },
              newText: { type: 'string', description: 'Text to put in its place, literally.' },
              replaceAll: { type: 'boolean', description: 'Replace every place where oldText is found.' },
            },
            required: ['oldText', 'newText'],
          },
        },
      },
      required: ['path', 'edits'],
    },
    readOnly: false,
    prepare: (args) =>
      prepareWith(() => {
        const path = pathArgument(args);
        return preparedEdit(queue, path, editsArgument(args));
      }),
  };
}

function preparedEdit(queue: FileQueue, path: string, edits: TextEdit[]): PreparedCall {
  const callPlace = new CallPlace(path);
  return {
    display: {
      title: 'Edit',
      kind: 'edit',
      target: path,
      ...(edits.length > 1 ? { summary: `${edits.length} edits` } : {}),
    },
    assess: (environment) => assess(environment, callPlace, edits),
    execute: (environment) =>
      queue.run(
        () => callPlace.find(environment),
        (place) => change(environment, place, edits),
      ),
  };
}

async function assess(environment: ToolEnvironment, callPlace: CallPlace, edits: TextEdit[]): Promise<Assessment> {
  const place = await callPlace.judge(environment);
  if (place.toChange.kind === 'refused') return { effect: 'refused', reason: place.toChange.why };
  const caution = place.toChange.kind === 'asks' ? place.toChange.why : null;
  try {
    const { before, after } = await plan(environment, place, edits);
    const preview = await describeChange(environment, place.shown, before, after);
    return { effect: 'change', caution, preview, rulePattern: `edit ${place.shown}` };
  } catch (error) {
    return { effect: 'refused', reason: refusalOf(error, place.shown) };
  }
}

async function change(environment: ToolEnvironment, place: Place, edits: TextEdit[]): Promise<ToolResult> {
  if (place.toChange.kind === 'refused') return failed(place.toChange.why);
  try {
    const { before, after, places } = await plan(environment, place, edits);
    // Blobs first: a change that cannot be undone must not happen.
    const details = await describeChange(environment, place.shown, before, after);
    await replaceFile(place.real, place.shown, after, before, environment.temporaries);
    environment.filesSeen.set(place.real, stampOf(after));
    return completed(
      `Edited ${place.shown}: ${places === 1 ? '1 place' : `${places} places`}, +${details.added} -${details.removed} lines.`,
      details,
    );
  } catch (error) {
    return failed(refusalOf(error, place.shown));
  }
}

async function plan(
  environment: ToolEnvironment,
  place: Place,
  edits: TextEdit[],
): Promise<{ before: Buffer; after: Buffer; places: number }> {
  const before = await readWhole(place.real, place.shown);
  if (before === null) throw new FileRefused(`${place.shown} does not exist; a new file is made by write.`);
  refuseStale(environment.filesSeen, place, before, 'edit');
  const replacement = replaceTexts(before, edits);
  if (!replacement.ok) throw new FileRefused(`${place.shown} was not changed. ${replacement.problem}`);
  return { before, after: replacement.bytes, places: replacement.places };
}

/** TL2: the batch, the batch as JSON text, one edit without its brackets, and the older form without `edits`. */
function editsArgument(args: Arguments): TextEdit[] {
  const given = pick(args, ['edits']);
  const value = given === undefined ? [args] : parsed(given);
  const items = Array.isArray(value) ? (value as unknown[]).map(parsed) : [value];
  if (items.length === 0)
    throw new ArgumentProblem('"edits" is empty: give at least one edit with oldText and newText.');
  return items.map((item, index) => textEdit(item, index));
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new ArgumentProblem('"edits" is text that is not JSON: give an array of objects with oldText and newText.');
  }
}

function textEdit(item: unknown, index: number): TextEdit {
  if (typeof item !== 'object' || item === null)
    throw new ArgumentProblem(`Edit ${index + 1} is not an object with oldText and newText.`);
  const fields = item as Arguments;
  const oldText = pick(fields, ['oldText', 'old_text', 'old_string', 'oldString', 'old_str']);
  const newText = pick(fields, ['newText', 'new_text', 'new_string', 'newString', 'new_str']);
  if (typeof oldText !== 'string')
    throw new ArgumentProblem(`Edit ${index + 1} has no oldText: give the text to replace as a string.`);
  if (typeof newText !== 'string')
    throw new ArgumentProblem(`Edit ${index + 1} has no newText: give the new text as a string; "" deletes.`);
  return { oldText, newText, everywhere: flagArgument(pick(fields, ['replaceAll', 'replace_all'])) };
}
