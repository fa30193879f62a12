/** A change of one file as the log and the screens know it: exact bytes before and after as blobs, so that it can be undone, and its diff. */
import type { FileChange } from '#protocol/values/display.ts';
import { maxInlineFieldBytes } from '../base/limits.ts';
import { diffOf } from './diff.ts';
import type { ToolEnvironment } from './tool.ts';

/** `before` is null for a file that is new. */
export async function describeChange(
  environment: Pick<ToolEnvironment, 'storeBlob'>,
  path: string,
  before: Uint8Array | null,
  after: Uint8Array,
): Promise<FileChange> {
  const { added, removed, text } = diffOf(path, before, after);
  return {
    type: 'file-change',
    path,
    change: before === null ? 'created' : 'modified',
    before: before === null ? null : await environment.storeBlob(before),
    after: await environment.storeBlob(after),
    added,
    removed,
    ...(await diffField(environment, text)),
  };
}

async function diffField(
  environment: Pick<ToolEnvironment, 'storeBlob'>,
  text: string | null,
): Promise<Pick<FileChange, 'diff' | 'diffBlob'>> {
  if (text === null) return {};
  const bytes = Buffer.from(text);
  return bytes.length <= maxInlineFieldBytes ? { diff: text } : { diffBlob: await environment.storeBlob(bytes) };
}
