/**
 * PDF files: whether bytes are one, and the text in them, page by page, for models and tools that read text alone. The reader is loaded when a
 * PDF is first looked at. Bounded in pages, text and time; what lies beyond is left out and said. Nothing in a PDF is run.
 */
import type { getDocumentProxy } from 'unpdf';
import { maxPdfPages, maxPdfTextBytes, pdfMs } from '../base/limits.ts';

type Paper = Awaited<ReturnType<typeof getDocumentProxy>>;

export interface PdfText {
  readonly pages: number;
  /** With a line before each page. */
  readonly text: string;
  /** Why some of it is missing, as a sentence; null: all is there. */
  readonly missing: string | null;
}

export function isPdf(bytes: Uint8Array): boolean {
  // Some writers put a few bytes before it, which readers allow.
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).includes('%PDF-');
}

/** `problem` completes "This file …". */
export async function pdfText(bytes: Uint8Array): Promise<PdfText | { readonly problem: string }> {
  if (!isPdf(bytes)) return { problem: 'is no PDF.' };
  const reader = await import('unpdf');
  const until = performance.now() + pdfMs;
  let paper: Paper;
  try {
    // The reader takes the bytes it is given away.
    paper = await reader.getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  } catch (error) {
    const locked = error instanceof Error && /password/i.test(`${error.name} ${error.message}`);
    return { problem: locked ? 'is locked with a password.' : 'is a PDF that is broken.' };
  }
  try {
    const pages: string[] = [];
    let size = 0;
    let missing: string | null = null;
    for (let place = 1; place <= paper.numPages && missing === null; place += 1) {
      if (place > maxPdfPages) missing = `Only the first ${maxPdfPages} of ${paper.numPages} pages are shown.`;
      else if (performance.now() > until)
        missing = `Only ${place - 1} of ${paper.numPages} pages could be read in time.`;
      else {
        const text = await pageText(paper, place);
        size += Buffer.byteLength(text);
        if (size > maxPdfTextBytes)
          missing = `Only the first ${place - 1} of ${paper.numPages} pages are shown: their text has ${maxPdfTextBytes / 1024} KiB.`;
        else pages.push(`--- Page ${place} ---\n${text}`);
      }
    }
    return { pages: paper.numPages, text: pages.join('\n\n'), missing };
  } finally {
    await paper.destroy();
  }
}

async function pageText(paper: Paper, place: number): Promise<string> {
  try {
    const page = await paper.getPage(place);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
    page.cleanup();
    return text.trim() === '' ? '(This page has no text: it may be a picture.)' : text.trim();
  } catch {
    return '(This page could not be read.)';
  }
}
