/** The handler of document.prepare: from an uploaded PDF to the part of an input that can be submitted, with its text beside it. */
import type { Params, Result } from '#protocol/command.ts';
import { RequestError } from '#protocol/errors.ts';
import { maxDocumentBytes } from '#protocol/limits.ts';
import type { PictureBlobs } from './commands.ts';
import { pdfText } from './pdf.ts';

export interface DocumentHandlers {
  readonly 'document.prepare': (params: Params<'document.prepare'>) => Promise<Result<'document.prepare'>>;
}

export function documentHandlers(blobs: PictureBlobs): DocumentHandlers {
  return {
    'document.prepare': async ({ blob, name }) => {
      const bytes = await blobs.read(blob);
      if (bytes === null) throw new RequestError('not_found', 'The uploaded file is not stored here. Upload it again.');
      const called = name ?? 'The file';
      if (bytes.length > maxDocumentBytes)
        throw new RequestError(
          'too_large',
          `${called} has ${(bytes.length / 1024 / 1024).toFixed(1)} MiB; an attached PDF takes ${maxDocumentBytes / 1024 / 1024} at most (maxDocumentBytes). Name it in the message instead, and the agent reads what it needs.`,
        );
      const read = await pdfText(bytes);
      if ('problem' in read) throw new RequestError('invalid_params', `${called} ${read.problem}`);
      const text = await blobs.put(
        Buffer.from([read.text, ...(read.missing === null ? [] : [`[${read.missing}]`])].join('\n\n')),
      );
      const named = name === undefined ? {} : { name };
      const stored = { ...blob, bytes: bytes.length };
      const part = {
        type: 'document' as const,
        blob: stored,
        mediaType: 'application/pdf' as const,
        ...named,
        pages: read.pages,
        text,
      };
      return { part, note: read.missing };
    },
  };
}
