/**
 * Reads a log from any place between two frames. Damage is a value with its byte range, never passed over in silence, and reading goes on
 * behind it where a good frame follows. A log whose name ends in `.jsonl` is the same events uncompressed, read in groups of lines that stand
 * for frames. What a log says of itself is checked: no event is missing, doubled or out of order between two places.
 */
import { LogError } from './log-error.ts';
import { LogBytes } from './log-bytes.ts';
import { decodeLine, type StoredEvent } from './codec.ts';
import {
  checkFrame,
  decodeFrame,
  frameHeaderBytes,
  frameMagic,
  loadZstd,
  readHeader,
  zstdMagic,
  type FrameHeader,
  type Zstd,
} from './frame.ts';
import { frameTargetBytes, maxEventBytes } from '../base/limits.ts';

/** A position between two frames: the byte where the next begins, and the seq of the last event before it. */
export interface LogPlace {
  readonly offset: number;
  readonly seq: number;
}

export const logStart: LogPlace = { offset: 0, seq: 0 };

/** `framed`: `.jsonl.zst`, zstd frames. `lines`: `.jsonl`, the same events as plain text. */
export type LogForm = 'framed' | 'lines';

export interface FrameSpan {
  readonly kind: 'frame';
  readonly offset: number;
  readonly end: number;
  readonly firstSeq: number;
  readonly count: number;
  /** Bytes of its events as lines. */
  readonly decodedBytes: number;
}

export interface LinesRead extends FrameSpan {
  readonly lines: readonly string[];
}

export interface EventsRead extends FrameSpan {
  readonly events: readonly StoredEvent[];
}

/** Bytes `from` up to `to` cannot be read. An empty range says that events are missing there. */
export interface Damage {
  readonly kind: 'damage';
  readonly from: number;
  readonly to: number;
  /** What a crash in mid-write leaves: nothing good follows, and it may be cut off. */
  readonly torn: boolean;
  readonly reason: string;
  /** The last event that could be read before it. */
  readonly lastSeq: number;
}

export interface ReadLimits {
  /** Reads no further than this byte: the writer's end, where a log is being written. */
  readonly until?: number;
}

/** The frames from a place on, decoded into lines. Rejects with a LogError where the file is not a log of its name's form, or is of a newer version. */
export async function* readFrames(
  path: string,
  from: LogPlace = logStart,
  limits: ReadLimits = {},
): AsyncGenerator<LinesRead | Damage> {
  const zstd = await loadZstd();
  const opened = await openLog(path, limits);
  try {
    if (opened.form === 'framed') yield* walkFramed(opened.bytes, from, readLines(zstd));
    else yield* walkLines(opened.bytes, from);
  } finally {
    await opened.bytes.close();
  }
}

/** As `readFrames`, with the events of the lines. A frame with a line that is no event is damage. */
export async function* readEvents(
  path: string,
  from: LogPlace = logStart,
  limits: ReadLimits = {},
): AsyncGenerator<EventsRead | Damage> {
  let lastSeq = from.seq;
  for await (const found of readFrames(path, from, limits)) {
    if (found.kind === 'damage') {
      yield found;
      continue;
    }
    const { offset, end, firstSeq, count, decodedBytes } = found;
    const events = decodeLines(found);
    if (typeof events === 'string') {
      yield { kind: 'damage', from: offset, to: end, torn: false, reason: events, lastSeq };
      continue;
    }
    yield { kind: 'frame', offset, end, firstSeq, count, decodedBytes, events };
    lastSeq = firstSeq + count - 1;
  }
}

/** The places and seqs of the frames, without reading what is in them. Damage inside a frame is not seen. */
export async function* walkHeaders(
  path: string,
  from: LogPlace = logStart,
  limits: ReadLimits = {},
): AsyncGenerator<FrameSpan | Damage> {
  yield* walk(path, from, limits, async () => null);
}

/** As `walkHeaders`, with every frame's checksum verified but nothing decoded. */
export async function* walkChecksums(
  path: string,
  from: LogPlace = logStart,
  limits: ReadLimits = {},
): AsyncGenerator<FrameSpan | Damage> {
  yield* walk(path, from, limits, async (bytes, header, offset) =>
    checkFrame(await dataOf(bytes, header, offset), header),
  );
}

/** Says whether a frame that begins with event `seq + 1` begins at the place. At the end of the log nothing begins. */
export async function isFrameStart(bytes: LogBytes, form: LogForm, { offset, seq }: LogPlace): Promise<boolean> {
  if (form === 'framed') {
    const frame = await frameAt(bytes, offset);
    return frame.kind === 'header' && frame.header.firstSeq === seq + 1;
  }
  if (offset > 0 && (await bytes.at(offset - 1, 1)).toString() !== '\n') return false;
  const line = await lineAt(bytes, offset);
  return line.kind === 'line' && line.seq === seq + 1;
}

/** A log that is being made beside the one whose place it takes. */
export const asideSuffix = '.repack';

export function formOf(path: string): LogForm {
  if (path.endsWith('.jsonl.zst') || path.endsWith(`.jsonl.zst${asideSuffix}`)) return 'framed';
  if (path.endsWith('.jsonl')) return 'lines';
  throw new LogError('wrong_form', `${path}: the name of a log ends in .jsonl.zst or .jsonl`);
}

/** Opens a log for reading and makes sure that its content is of the form that its name says. */
export async function openLog(path: string, limits: ReadLimits = {}): Promise<{ form: LogForm; bytes: LogBytes }> {
  const form = formOf(path);
  const bytes = await LogBytes.open(path, limits.until);
  try {
    const start = await bytes.at(0, 4);
    const framed = start.equals(frameMagic);
    if (form === 'lines' && (framed || start.equals(zstdMagic))) {
      throw new LogError(
        'wrong_form',
        `${path} holds compressed frames, but its name says plain lines: it should end in .jsonl.zst`,
      );
    }
    if (form === 'framed' && !framed && start[0] === '{'.charCodeAt(0)) {
      throw new LogError(
        'wrong_form',
        `${path} holds plain lines, but its name says compressed frames: it should end in .jsonl`,
      );
    }
    if (form === 'framed' && start.equals(zstdMagic)) {
      throw new LogError('wrong_form', `${path} was compressed by another program: decompress it and name it .jsonl`);
    }
    // A crash leaves the beginning of a frame, or zeros where nothing was written; anything else, with no frame in it, never was a log.
    const begun = framed || start.length < frameMagic.length || start.every((byte) => byte === 0);
    if (form === 'framed' && !begun && (await nextHeader(bytes, 1)) === null) {
      throw new LogError('wrong_form', `${path} is no log: it neither begins with a frame nor holds one.`);
    }
    return { form, bytes };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

function assertWithin(bytes: LogBytes, from: LogPlace): void {
  if (from.offset > bytes.length) throw changed(from, `it has ${bytes.length} bytes`);
}

/** A place between two frames is one of that file: in a log that was repacked since, another frame stands there, or none begins. */
async function assertFrameAt(bytes: LogBytes, from: LogPlace): Promise<void> {
  assertWithin(bytes, from);
  if (from.offset === 0 || from.offset === bytes.length) return;
  const head = readHeader(await bytes.at(from.offset, 1024));
  if (!('problem' in head)) {
    if (head.firstSeq !== from.seq + 1) throw changed(from, `event ${head.firstSeq} begins there`);
  } else if (head.problem === 'garbled') throw changed(from, head.reason);
}

function changed({ offset, seq }: LogPlace, found: string): LogError {
  return new LogError(
    'changed',
    `The log was to be read from byte ${offset} on, behind event ${seq}, but ${found}: it is another file now.`,
  );
}

// ---- compressed frames ----

/** Looks into a frame whose header is good. `problem` torn: a crash may have left it so. */
type Content<Found> = { found: Found } | { problem: 'torn' | 'refused'; reason: string };
type Look<Found> = (bytes: LogBytes, header: FrameHeader, offset: number, end: number) => Promise<Content<Found>>;

type FrameAt =
  | { kind: 'header'; header: FrameHeader; end: number }
  /** `next`: the first byte at which another frame may begin. */
  | { kind: 'problem'; problem: 'torn' | 'refused'; reason: string; next: number };

async function* walkFramed<Found>(bytes: LogBytes, from: LogPlace, look: Look<Found>): AsyncGenerator<Found | Damage> {
  await assertFrameAt(bytes, from);
  let { offset, seq: lastSeq } = from;
  /** Behind damage nobody knows which seq comes. */
  let contiguous = true;
  while (offset < bytes.length) {
    const frame = await frameAt(bytes, offset);
    const content: Content<Found> =
      frame.kind === 'header' ? await look(bytes, frame.header, offset, frame.end) : frame;
    if ('problem' in content) {
      const after = await nextHeader(bytes, frame.kind === 'header' ? frame.end : frame.next);
      const torn = after === null && content.problem === 'torn';
      const to = after ?? bytes.length;
      yield { kind: 'damage', from: offset, to, torn, reason: content.reason, lastSeq };
      offset = to;
      contiguous = false;
      continue;
    }
    if (frame.kind !== 'header') return;
    const { firstSeq, count } = frame.header;
    const misplaced = misplacement(offset, frame.end, firstSeq, lastSeq, contiguous);
    if (misplaced !== null) yield misplaced;
    if (firstSeq > lastSeq) {
      yield content.found;
      lastSeq = firstSeq + count - 1;
      contiguous = true;
    }
    offset = frame.end;
  }
}

/** A frame out of its place in the order of seqs. Where events are missing before it, the frame itself is good. */
function misplacement(
  offset: number,
  end: number,
  firstSeq: number,
  lastSeq: number,
  contiguous: boolean,
): Damage | null {
  const damage = { kind: 'damage', from: offset, torn: false, lastSeq } as const;
  if (firstSeq <= lastSeq) {
    return { ...damage, to: end, reason: `event ${firstSeq} comes again after event ${lastSeq}` };
  }
  if (contiguous && firstSeq !== lastSeq + 1) {
    return { ...damage, to: offset, reason: `events ${lastSeq + 1} to ${firstSeq - 1} are missing` };
  }
  return null;
}

async function frameAt(bytes: LogBytes, offset: number): Promise<FrameAt> {
  const problem = (kind: 'torn' | 'refused', reason: string, next: number): FrameAt => ({
    kind: 'problem',
    problem: kind,
    reason,
    next,
  });
  let head = readHeader(await bytes.at(offset, frameHeaderBytes));
  // A newer version's header may be longer.
  if ('problem' in head && head.problem === 'short') head = readHeader(await bytes.at(offset, 1024));
  if ('problem' in head) {
    if (head.problem === 'newer')
      throw new LogError('newer', `The log was written by a newer Alcove: ${head.reason}. Update to open it.`);
    return problem(head.problem === 'excessive' ? 'refused' : 'torn', head.reason, offset + 1);
  }
  const end = offset + head.headerBytes + head.compressedBytes;
  if (end > bytes.length) return problem('torn', 'the file ends in a frame', offset + head.headerBytes);
  return { kind: 'header', header: head, end };
}

/** Where the next good header begins, at or after `from`. */
async function nextHeader(bytes: LogBytes, from: number): Promise<number | null> {
  let offset = from;
  while (offset < bytes.length) {
    const window = await bytes.from(offset, frameMagic.length);
    if (window.length === 0) return null;
    const found = window.indexOf(frameMagic);
    if (found < 0) {
      if (offset + window.length >= bytes.length) return null;
      offset += Math.max(window.length - frameMagic.length + 1, 1);
      continue;
    }
    offset += found;
    const head = readHeader(await bytes.at(offset, 1024));
    if (!('problem' in head) || head.problem === 'newer' || head.problem === 'excessive') return offset;
    offset += 1;
  }
  return null;
}

async function dataOf(bytes: LogBytes, header: FrameHeader, offset: number): Promise<Buffer> {
  return bytes.at(offset + header.headerBytes, header.compressedBytes);
}

function spanOf(header: FrameHeader, offset: number, end: number): FrameSpan {
  const { firstSeq, count, decodedBytes } = header;
  return { kind: 'frame', offset, end, firstSeq, count, decodedBytes };
}

function readLines(zstd: Zstd): Look<LinesRead> {
  return async (bytes, header, offset, end) => {
    const lines = decodeFrame(zstd, await dataOf(bytes, header, offset), header);
    if ('problem' in lines) return lines;
    return { found: { ...spanOf(header, offset, end), lines } };
  };
}

type Verify = (
  bytes: LogBytes,
  header: FrameHeader,
  offset: number,
) => Promise<{ problem: 'torn' | 'refused'; reason: string } | null>;

async function* walk(
  path: string,
  from: LogPlace,
  limits: ReadLimits,
  verify: Verify,
): AsyncGenerator<FrameSpan | Damage> {
  const opened = await openLog(path, limits);
  try {
    if (opened.form === 'lines') {
      yield* walkLines(opened.bytes, from);
      return;
    }
    const look: Look<FrameSpan> = async (bytes, header, offset, end) =>
      (await verify(bytes, header, offset)) ?? { found: spanOf(header, offset, end) };
    yield* walkFramed(opened.bytes, from, look);
  } finally {
    await opened.bytes.close();
  }
}

// ---- plain lines ----

type LineAt =
  | { kind: 'line'; line: string; seq: number; end: number }
  | { kind: 'problem'; problem: 'torn' | 'refused'; reason: string; next: number };

async function* walkLines(bytes: LogBytes, from: LogPlace): AsyncGenerator<LinesRead | Damage> {
  assertWithin(bytes, from);
  let { offset, seq: lastSeq } = from;
  let contiguous = true;
  let group: { offset: number; firstSeq: number; lines: string[] } | null = null;
  const grouped = (end: number): LinesRead[] => {
    if (group === null) return [];
    const { lines, ...span } = group;
    group = null;
    return [{ kind: 'frame', ...span, end, count: lines.length, decodedBytes: end - span.offset, lines }];
  };
  while (offset < bytes.length) {
    const line = await lineAt(bytes, offset);
    if (line.kind === 'problem') {
      yield* grouped(offset);
      const after = await nextLine(bytes, line.next);
      const to = after ?? bytes.length;
      const torn = after === null && line.problem === 'torn';
      yield { kind: 'damage', from: offset, to, torn, reason: line.reason, lastSeq };
      offset = to;
      contiguous = false;
      continue;
    }
    const misplaced = misplacement(offset, line.end, line.seq, lastSeq, contiguous);
    if (misplaced !== null) {
      yield* grouped(offset);
      yield misplaced;
    }
    if (line.seq > lastSeq) {
      group ??= { offset, firstSeq: line.seq, lines: [] };
      group.lines.push(line.line);
      lastSeq = line.seq;
      contiguous = true;
      if (line.end - group.offset >= frameTargetBytes) yield* grouped(line.end);
    }
    offset = line.end;
  }
  yield* grouped(offset);
}

async function lineAt(bytes: LogBytes, offset: number): Promise<LineAt> {
  const newline = await findNewline(bytes, offset);
  if (newline === null)
    return { kind: 'problem', problem: 'torn', reason: 'the last line has no end', next: bytes.length };
  const end = newline + 1;
  const problem = (kind: 'torn' | 'refused', reason: string): LineAt => ({
    kind: 'problem',
    problem: kind,
    reason,
    next: end,
  });
  if (newline - offset > maxEventBytes)
    return problem('refused', `an event is over the limit of ${maxEventBytes} bytes`);
  try {
    const line = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      await bytes.at(offset, newline - offset),
    );
    const { seq } = JSON.parse(line) as { seq?: unknown };
    if (typeof seq === 'number' && Number.isSafeInteger(seq) && seq > 0) return { kind: 'line', line, seq, end };
    return problem('refused', 'a line is JSON but no event');
  } catch {
    return problem('torn', 'a line is not JSON');
  }
}

async function nextLine(bytes: LogBytes, from: number): Promise<number | null> {
  for (let offset = from; offset < bytes.length;) {
    const line = await lineAt(bytes, offset);
    if (line.kind === 'line') return offset;
    offset = line.next;
  }
  return null;
}

async function findNewline(bytes: LogBytes, offset: number): Promise<number | null> {
  for (let from = offset; from < bytes.length;) {
    const window = await bytes.from(from, 1);
    if (window.length === 0) return null;
    const found = window.indexOf(10);
    if (found >= 0) return from + found;
    from += window.length;
  }
  return null;
}

// ---- events ----

function decodeLines(frame: LinesRead): StoredEvent[] | string {
  const events: StoredEvent[] = [];
  for (const line of frame.lines) {
    const decoded = decodeLine(line);
    if ('problem' in decoded) return decoded.problem;
    if (decoded.event.seq !== frame.firstSeq + events.length)
      return `event ${decoded.event.seq} stands out of its place`;
    events.push(decoded);
  }
  return events;
}
