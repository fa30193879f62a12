/**
 * `read`: the text of a file with line numbers (TL5), in windows that fit a model; a picture, as the model can see it (TL6), or the text of a PDF. The whole file is passed through, since its stamp, its
 * number of lines and a NUL anywhere in it count; of each line no more is kept than is shown.
 */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemCode } from '../base/errors.ts';
import { maxPictureFileBytes, maxReadLineBytes, maxResultBytes, maxResultLines } from '../base/limits.ts';
import { fitPicture } from '../pictures/fit-picture.ts';
import { pdfText } from '../pictures/pdf.ts';
import { mayBePicture, otherPictureFormat, pictureFacts } from '../pictures/picture-facts.ts';
import { countArgument, pathArgument, prepareWith } from './arguments.ts';
import { CallPlace } from './call-place.ts';
import { stampOf, startStamp } from './file-stamp.ts';
import { openPlace, type Place } from './paths.ts';
import { completed, failed, refusalOf } from './result.ts';
import type { Assessment, PreparedCall, Tool, ToolEnvironment, ToolResult } from './tool.ts';

export const readTool: Tool = {
  name: 'read',
  description:
    `Reads a text file, a picture, or the text of a PDF. Each line of text comes with its number and a tab before it. At most ${maxResultLines} lines or ${maxResultBytes / 1024} KiB at a ` +
    'time; the end of a cut answer names the offset to go on with.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'File to read, relative to the project or absolute.' },
      offset: { type: 'integer', minimum: 1, description: 'First line to read, counted from 1.' },
      limit: { type: 'integer', minimum: 1, description: 'How many lines to read.' },
    },
    required: ['path'],
  },
  readOnly: true,
  prepare: (args) =>
    prepareWith(() => {
      const path = pathArgument(args);
      const offset = countArgument(args, 'offset', 'the first line to read, the first of a file being 1');
      const limit = countArgument(args, 'limit', 'how many lines to read');
      return preparedRead(path, offset ?? 1, limit);
    }),
};

function preparedRead(path: string, offset: number, limit: number | null): PreparedCall {
  const summary =
    offset === 1 && limit === null
      ? {}
      : { summary: limit === null ? `from line ${offset}` : `lines ${offset}-${offset + limit - 1}` };
  const callPlace = new CallPlace(path);
  return {
    display: { title: 'Read', kind: 'read', target: path, ...summary },
    assess: (environment) => assess(environment, callPlace),
    execute: (environment, signal) => read(environment, callPlace, offset, limit, signal),
  };
}

async function assess(environment: ToolEnvironment, callPlace: CallPlace): Promise<Assessment> {
  const place = await callPlace.judge(environment);
  if (place.toRead.kind === 'refused') return { effect: 'refused', reason: place.toRead.why };
  return {
    effect: 'read',
    caution: place.toRead.kind === 'asks' ? place.toRead.why : null,
    rulePattern: `read ${place.shown}`,
  };
}

async function read(
  environment: ToolEnvironment,
  callPlace: CallPlace,
  offset: number,
  limit: number | null,
  signal: AbortSignal,
): Promise<ToolResult> {
  const place = await callPlace.find(environment);
  if (place.toRead.kind === 'refused') return failed(place.toRead.why);
  let handle: FileHandle;
  try {
    handle = await openPlace(place.real, constants.O_RDONLY);
  } catch (error) {
    const advice = systemCode(error) === 'ENOENT' ? ' Look at the folder for its right name.' : '';
    return failed(refusalOf(error, place.shown) + advice);
  }
  try {
    const facts = await handle.stat();
    if (facts.isDirectory()) return failed(`${place.shown} is a directory; list it with ls.`);
    if (!facts.isFile()) return failed(`${place.shown} is not a regular file, so it is not read.`);
    const picture = await pictureIn(handle, facts.size);
    if (picture !== null) return await showPicture(environment, place, picture, signal);
    const paper = await pdfIn(handle, facts.size);
    if (paper !== null) return await showPdf(place.shown, paper, offset, limit);
    const text = await readLines(handle, new LineWindow(offset, limit), signal);
    if (typeof text === 'string') return failed(`${place.shown} ${text}`);
    environment.filesSeen.set(place.real, text.stamp);
    return answer(place.shown, text.window, offset, limit);
  } catch (error) {
    if (signal.aborted) return failed(`Reading ${place.shown} was stopped.`);
    return failed(refusalOf(error, place.shown));
  } finally {
    await handle.close();
  }
}

function answer(shown: string, window: LineWindow, offset: number, limit: number | null): ToolResult {
  const details = {
    type: 'file-read',
    path: shown,
    firstLine: offset,
    lastLine: window.lastShown,
    totalLines: window.total,
  } as const;
  if (window.total === 0 && offset === 1)
    return completed('(the file is empty)', { ...details, firstLine: 0, lastLine: 0 });
  if (offset > window.total) {
    return failed(`Line ${offset} is past the end of ${shown}: its last line is ${window.total}.`);
  }
  const lines = [...window.lines];
  if (window.lastShown < window.total) {
    const why =
      window.full === 'bytes'
        ? ` (limit of ${maxResultBytes / 1024} KiB)`
        : window.full === 'lines'
          ? ` (limit of ${maxResultLines} lines)`
          : '';
    const asked = limit !== null && window.full === null ? '' : why;
    lines.push(
      `[Lines ${offset}-${window.lastShown} of ${window.total} are shown${asked}. Go on with offset=${window.lastShown + 1}.]`,
    );
  }
  return completed(lines.join('\n'), details);
}

/** The whole file where it is a PDF; null where it is none, or too large for one. */
async function pdfIn(handle: FileHandle, size: number): Promise<Buffer | null> {
  const start = Buffer.alloc(5);
  const { bytesRead } = await handle.read(start, 0, start.length, 0);
  if (start.subarray(0, bytesRead).toString('latin1') !== '%PDF-' || size > maxPictureFileBytes) return null;
  return await wholeOf(handle, size);
}

/** Its text in lines, as of any file; not as one that was seen, since an edit of its text is none of the file. */
async function showPdf(shown: string, bytes: Buffer, offset: number, limit: number | null): Promise<ToolResult> {
  const read = await pdfText(bytes);
  if ('problem' in read) return failed(`${shown} ${read.problem}`);
  const window = new LineWindow(offset, limit);
  window.push(Buffer.from(read.missing === null ? read.text : `${read.text}\n[${read.missing}]`));
  window.end();
  return answer(shown, window, offset, limit);
}

/** The whole file where it is a picture; null where it is none, or too large for one. Reads by position, so the text can be read afterwards. */
async function pictureIn(handle: FileHandle, size: number): Promise<Buffer | null> {
  const start = Buffer.alloc(16);
  const { bytesRead } = await handle.read(start, 0, start.length, 0);
  if (!mayBePicture(start.subarray(0, bytesRead)) || size > maxPictureFileBytes) return null;
  const whole = await wholeOf(handle, size);
  return pictureFacts(whole) === null ? null : whole;
}

async function wholeOf(handle: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const piece = await handle.read(bytes, filled, size - filled, filled);
    if (piece.bytesRead === 0) break;
    filled += piece.bytesRead;
  }
  return bytes.subarray(0, filled);
}

async function showPicture(
  environment: ToolEnvironment,
  place: Place,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<ToolResult> {
  const fitted = await fitPicture(bytes, signal);
  if ('problem' in fitted) return failed(`${place.shown} ${fitted.problem}`);
  environment.filesSeen.set(place.real, stampOf(bytes));
  const { mediaType, width, height, note } = fitted;
  const blob = await environment.storeBlob(fitted.bytes);
  const text = `${place.shown}: ${width} x ${height} ${mediaType.slice('image/'.length)}.${note === null ? '' : ` ${note}`}`;
  return {
    outcome: 'completed',
    content: [
      { type: 'text', text },
      { type: 'image', blob, mediaType, name: basename(place.real), width, height },
    ],
  };
}

const pieceBytes = 256 * 1024;
const lineFeed = 0x0a;

/** Returns the window filled and the stamp of the whole file, or why it is not text (completes "<path> …"). */
async function readLines(
  handle: FileHandle,
  window: LineWindow,
  signal: AbortSignal,
): Promise<{ window: LineWindow; stamp: string } | string> {
  const stamp = startStamp();
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let first = true;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, pieceBytes, null);
    if (bytesRead === 0) break;
    let piece: Buffer = buffer.subarray(0, bytesRead);
    stamp.update(piece);
    if (first) {
      const kind = kindOf(piece);
      if (kind !== null) return kind;
      if (piece[0] === 0xef && piece[1] === 0xbb && piece[2] === 0xbf) piece = piece.subarray(3);
      first = false;
    }
    if (piece.includes(0)) return 'holds NUL bytes: it is a binary file, which this tool does not show.';
    window.push(piece);
  }
  window.end();
  return { window, stamp: stamp.digest('hex') };
}

/** What the first bytes give away; a sentence that helps more than "binary". */
function kindOf(start: Buffer): string | null {
  const known = magics.find(({ bytes }) => start.subarray(0, bytes.length).equals(bytes));
  if (known !== undefined) return known.says;
  if (start.subarray(0, 4).toString('latin1') === 'RIFF' && start.subarray(8, 12).toString('latin1') === 'WEBP')
    return pictureSays('WebP');
  const other = otherPictureFormat(start);
  return other === null || other === 'SVG'
    ? null
    : `is a picture in the format ${other}, which is not shown here. Convert it to png first.`;
}

function pictureSays(format: string): string {
  return `is a picture (${format}) that is broken, or has more than ${maxPictureFileBytes / 1024 / 1024} MiB, so it is not shown.`;
}

const magics: readonly { bytes: Buffer; says: string }[] = [
  { bytes: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), says: pictureSays('PNG') },
  { bytes: Buffer.from('\xff\xd8\xff', 'latin1'), says: pictureSays('JPEG') },
  { bytes: Buffer.from('GIF8', 'latin1'), says: pictureSays('GIF') },
  {
    bytes: Buffer.from('%PDF-', 'latin1'),
    says: `is a PDF of more than ${maxPictureFileBytes / 1024 / 1024} MiB. A command such as pdftotext may extract its text.`,
  },
  {
    bytes: Buffer.from('\xff\xfe', 'latin1'),
    says: 'is UTF-16 text. Convert it first, for example with iconv -f UTF-16 -t UTF-8.',
  },
  {
    bytes: Buffer.from('\xfe\xff', 'latin1'),
    says: 'is UTF-16 text. Convert it first, for example with iconv -f UTF-16 -t UTF-8.',
  },
];

/** The lines from `offset` on that fit, each with its number; takes the file in pieces. */
class LineWindow {
  readonly lines: string[] = [];
  total = 0;
  lastShown: number;
  full: 'bytes' | 'lines' | null = null;
  readonly #offset: number;
  readonly #wanted: number;
  readonly #limitedByUs: boolean;
  #shownBytes = 0;
  /** The line that is being read: its start, as far as shown, and its whole length. */
  #line: Buffer[] = [];
  #kept = 0;
  #length = 0;
  #open = false;

  constructor(offset: number, limit: number | null) {
    this.#offset = offset;
    this.#wanted = Math.min(limit ?? maxResultLines, maxResultLines);
    this.#limitedByUs = limit === null || limit > maxResultLines;
    this.lastShown = offset - 1;
  }

  push(piece: Buffer): void {
    let from = 0;
    while (from < piece.length) {
      const feed = piece.indexOf(lineFeed, from);
      const end = feed === -1 ? piece.length : feed;
      this.#take(piece.subarray(from, end));
      if (feed !== -1) this.#endLine();
      from = end + 1;
    }
  }

  end(): void {
    if (this.#open) this.#endLine();
  }

  #take(part: Buffer): void {
    this.#open = true;
    this.#length += part.length;
    const room = maxReadLineBytes + 1 - this.#kept; // one more, for the carriage return of a line that just fits
    if (room <= 0 || part.length === 0 || this.full !== null || this.total + 1 < this.#offset) return;
    const kept = Buffer.from(part.subarray(0, room)); // the piece's memory is used again
    this.#line.push(kept);
    this.#kept += kept.length;
  }

  #endLine(): void {
    this.total++;
    if (this.total >= this.#offset && this.full === null) this.#show(this.total);
    this.#line = [];
    this.#kept = 0;
    this.#length = 0;
    this.#open = false;
  }

  #show(number: number): void {
    if (this.lines.length >= this.#wanted) {
      this.full = this.#limitedByUs ? 'lines' : null;
      return;
    }
    const text = `${number}\t${this.#lineText(number)}`;
    const bytes = Buffer.byteLength(text) + 1;
    if (this.#shownBytes + bytes > maxResultBytes) {
      this.full = 'bytes';
      return;
    }
    this.lines.push(text);
    this.#shownBytes += bytes;
    this.lastShown = number;
  }

  #lineText(number: number): string {
    const bytes = Buffer.concat(this.#line);
    if (bytes.length === this.#length && bytes.at(-1) === 0x0d) return decoded(bytes.subarray(0, -1));
    if (this.#length <= maxReadLineBytes) return decoded(bytes);
    const shown = decoded(bytes.subarray(0, maxReadLineBytes)).replace(/\ufffd$/, '');
    return (
      `${shown} [cut: the line has ${this.#length} bytes. ` +
      `Its rest: sed -n '${number}p' FILE | tail -c +${maxReadLineBytes + 1} | head -c ${maxReadLineBytes}]`
    );
  }
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
