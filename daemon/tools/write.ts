/**
 * `write`: a whole file, new or instead of the old one (TL7). Parents are made; after a crash the old or the new content is there. A file
 * that was seen in this session and changed since is not overwritten; one never seen is a change like any other, which the mode decides.
 */
import { maxEditFileBytes } from '../base/limits.ts';
import { ArgumentProblem, pathArgument, pick, prepareWith } from './arguments.ts';
import { CallPlace } from './call-place.ts';
import { describeChange } from './file-change.ts';
import type { FileQueue } from './file-queue.ts';
import { refuseStale, rememberShown, stampOf } from './file-stamp.ts';
import type { Place } from './paths.ts';
import { FileRefused, readWhole, replaceFile, tooLarge } from './replace-file.ts';
import { completed, failed, refusalOf } from './result.ts';
import type { Assessment, PreparedCall, Tool, ToolEnvironment, ToolResult } from './tool.ts';

export function writeTool(queue: FileQueue): Tool {
  return {
    name: 'write',
    description:
      'Writes a whole file: a new one (missing folders are made), or the full new content of an existing one. ' +
      'To change parts of a file use edit.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'File to write, relative to the project or absolute.' },
        content: { type: 'string', description: 'The whole content, exactly as it shall be on disk.' },
      },
      required: ['path', 'content'],
    },
    readOnly: false,
    prepare: (args) =>
      prepareWith(() => {
        const path = pathArgument(args);
        const content = pick(args, ['content', 'contents', 'text', 'file_text']);
        if (typeof content !== 'string')
          throw new ArgumentProblem('"content" is missing: give the whole content of the file as a string.');
        return preparedWrite(queue, path, Buffer.from(content, 'utf8'));
      }),
  };
}

function preparedWrite(queue: FileQueue, path: string, after: Buffer): PreparedCall {
  const callPlace = new CallPlace(path, 'what may be new');
  return {
    display: { title: 'Write', kind: 'edit', target: path },
    assess: (environment) => assess(environment, callPlace, after),
    execute: (environment) =>
      queue.run(
        () => callPlace.find(environment),
        (place) => change(environment, place, after),
      ),
  };
}

async function assess(environment: ToolEnvironment, callPlace: CallPlace, after: Buffer): Promise<Assessment> {
  const place = await callPlace.judge(environment);
  if (place.toChange.kind === 'refused') return { effect: 'refused', reason: place.toChange.why };
  const caution = place.toChange.kind === 'asks' ? place.toChange.why : null;
  try {
    const before = await overwritable(environment, place, after);
    rememberShown(environment.filesSeen, place, before);
    const preview = await describeChange(environment, place.shown, before, after);
    return { effect: 'change', caution, preview, rulePattern: `write ${place.shown}` };
  } catch (error) {
    return { effect: 'refused', reason: refusalOf(error, place.shown) };
  }
}

async function change(environment: ToolEnvironment, place: Place, after: Buffer): Promise<ToolResult> {
  if (place.toChange.kind === 'refused') return failed(place.toChange.why);
  try {
    const before = await overwritable(environment, place, after);
    // Blobs first: a change that cannot be undone must not happen.
    const details = await describeChange(environment, place.shown, before, after);
    await replaceFile(place.real, place.shown, after, before, environment.temporaries);
    environment.filesSeen.set(place.real, stampOf(after));
    const lines =
      after.length === 0 ? 0 : after.toString('latin1').split('\n').length - (after.at(-1) === 0x0a ? 1 : 0);
    return completed(
      `${before === null ? 'Created' : 'Wrote'} ${place.shown}: ${lines === 1 ? '1 line' : `${lines} lines`}.`,
      details,
    );
  } catch (error) {
    return failed(refusalOf(error, place.shown));
  }
}

/** What stands there now, null for nothing; throws FileRefused where it must not be replaced. */
async function overwritable(environment: ToolEnvironment, place: Place, after: Buffer): Promise<Buffer | null> {
  if (after.length > maxEditFileBytes) throw new FileRefused(tooLarge(place.shown, after.length));
  const before = await readWhole(place.real, place.shown);
  if (before !== null) refuseStale(environment.filesSeen, place, before, 'write it');
  return before;
}
