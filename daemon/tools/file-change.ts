/** A change of files as the log and the screens know it: exact bytes before and after as blobs, so that it can be undone, and the diffs. */
import type { FileChange, FileChanges } from '#protocol/values/display.ts';
import { maxInlineFieldBytes } from '../base/limits.ts';
import { diffOf } from './diff.ts';
import type { ToolEnvironment } from './tool.ts';

type Stores = Pick<ToolEnvironment, 'storeBlob'>;

/** `before` is null for a file that is new, `after` for one that is deleted. */
export interface ChangedFile {
  readonly path: string;
  readonly movedFrom?: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
}

export async function describeChange(
  environment: Stores,
  path: string,
  before: Uint8Array | null,
  after: Uint8Array,
): Promise<FileChange> {
  const { change } = await described(environment, { path, before, after }, maxInlineFieldBytes);
  return change;
}

/** What they say of themselves shares the room that one field of an event has: the diffs that find none stand in blobs. */
export async function describeChanges(environment: Stores, files: readonly ChangedFile[]): Promise<FileChanges> {
  let room = maxInlineFieldBytes;
  const changes: FileChange[] = [];
  for (const file of files) {
    const { change, inline } = await described(environment, file, room);
    room -= inline;
    changes.push(change);
  }
  return { type: 'file-changes', files: changes };
}

async function described(
  environment: Stores,
  { path, movedFrom, before, after }: ChangedFile,
  room: number,
): Promise<{ change: FileChange; inline: number }> {
  const { added, removed, text } = diffOf(path, before, after, movedFrom);
  const blobOf = async (bytes: Uint8Array | null) => (bytes === null ? null : environment.storeBlob(bytes));
  // Measured as it will stand in the event, where control characters take six bytes each.
  const bytes = text === null ? 0 : Buffer.byteLength(JSON.stringify(text));
  const change: FileChange = {
    type: 'file-change',
    path,
    change: before === null ? 'created' : after === null ? 'deleted' : 'modified',
    ...(movedFrom === undefined ? {} : { movedFrom }),
    before: await blobOf(before),
    after: await blobOf(after),
    added,
    removed,
    ...(text === null
      ? {}
      : bytes <= room
        ? { diff: text }
        : { diffBlob: await environment.storeBlob(Buffer.from(text)) }),
  };
  return { change, inline: bytes <= room ? bytes : 0 };
}
