/**
 * Decodes a picture and encodes it anew: smaller, upright, as png or jpeg. In a thread of its own, one at a time, with a bound on its time, so
 * that no picture holds the daemon up; the thread ends with its picture and gives all memory back. The only file that knows the codec.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type * as Photon from '@silvia-odwyer/photon-node';
import { redrawMs } from '../base/limits.ts';

export interface Redrawing {
  /** It is made smaller until no side is longer. */
  readonly maxSide: number;
  readonly maxBytes: number;
  /** Of EXIF, 1 to 8: the picture comes out upright. */
  readonly orientation: number;
  /** jpeg is taken in any case where png has more than `maxBytes`. */
  readonly format: 'png' | 'jpeg';
}

export interface Redrawn {
  readonly bytes: Uint8Array;
  readonly mediaType: 'image/png' | 'image/jpeg';
  readonly width: number;
  readonly height: number;
}

export class RedrawError extends Error {
  override readonly name = 'RedrawError';
}

/** Rejects with RedrawError for what cannot be decoded, or not in time, and with the signal's reason where that aborts. */
export function redraw(bytes: Uint8Array, how: Redrawing, signal?: AbortSignal): Promise<Redrawn> {
  const mine = queue.last.then(() => inThread(bytes, how, signal));
  queue.last = mine.catch(() => undefined);
  return mine;
}

/** A large picture takes very much memory while it is decoded: never two at once. */
const queue: { last: Promise<unknown> } = { last: Promise.resolve() };

type Answer = Redrawn | { readonly problem: string };

function inThread(bytes: Uint8Array, how: Redrawing, signal: AbortSignal | undefined): Promise<Redrawn> {
  signal?.throwIfAborted();
  const photon = createRequire(import.meta.url).resolve(codec);
  const worker = new Worker(program, { eval: true, execArgv: [], env: {}, workerData: { ...how, bytes, photon } });
  worker.unref();
  return new Promise<Redrawn>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new RedrawError(`decoding it takes longer than ${redrawMs / 1000} s`)),
      redrawMs,
    );
    const stop = () => reject(signal?.reason as Error);
    signal?.addEventListener('abort', stop, { once: true });
    worker.once('message', (answer: Answer) =>
      'problem' in answer ? reject(new RedrawError(answer.problem)) : resolve(answer),
    );
    worker.once('error', (error) => reject(new RedrawError(`it cannot be decoded (${error.message})`)));
    worker.once('exit', () => {
      reject(new RedrawError('it cannot be decoded'));
      clearTimeout(late);
      signal?.removeEventListener('abort', stop);
    });
  }).finally(() => void worker.terminate());
}

const codec = '@silvia-odwyer/photon-node' satisfies keyof { '@silvia-odwyer/photon-node': typeof Photon };

/**
 * The thread's program as text: it runs the same from the sources and from the bundle, where it would be a file that every build, loader and
 * test had to find. Turning is done on the pixels, after scaling, since the codec only turns by interpolation.
 */
const program = `
const { parentPort, workerData } = require('node:worker_threads');
const { photon: path, bytes, maxSide, maxBytes, orientation, format } = workerData;
const photon = require(path);

function turned(image) {
  if (orientation === 1) return image;
  const [w, h] = [image.get_width(), image.get_height()];
  const from = new Uint32Array(image.get_raw_pixels().slice().buffer);
  const [width, height] = orientation > 4 ? [h, w] : [w, h];
  const to = new Uint32Array(from.length);
  const source = {
    2: (x, y) => y * w + (w - 1 - x),
    3: (x, y) => (h - 1 - y) * w + (w - 1 - x),
    4: (x, y) => (h - 1 - y) * w + x,
    5: (x, y) => x * w + y,
    6: (x, y) => (h - 1 - x) * w + y,
    7: (x, y) => (h - 1 - x) * w + (w - 1 - y),
    8: (x, y) => x * w + (w - 1 - y),
  }[orientation];
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) to[y * width + x] = from[source(x, y)];
  return new photon.PhotonImage(new Uint8Array(to.buffer), width, height);
}

function scaled(image, side) {
  const [w, h] = [image.get_width(), image.get_height()];
  const factor = Math.min(1, side / Math.max(w, h));
  if (factor === 1) return image;
  const [width, height] = [Math.max(1, Math.round(w * factor)), Math.max(1, Math.round(h * factor))];
  return photon.resize(image, width, height, photon.SamplingFilter.Triangle);
}

let image;
try {
  image = turned(scaled(photon.PhotonImage.new_from_byteslice(bytes), maxSide));
} catch (error) {
  parentPort.postMessage({ problem: 'it cannot be decoded' });
}
if (image !== undefined) {
  let answer;
  for (let side = maxSide; answer === undefined && side >= 64; side = Math.floor(side / 1.5)) {
    image = scaled(image, side);
    const [width, height] = [image.get_width(), image.get_height()];
    for (const form of format === 'png' ? ['png', 'jpeg'] : ['jpeg']) {
      const made = form === 'png' ? image.get_bytes() : image.get_bytes_jpeg(85);
      if (made.length > maxBytes) continue;
      answer = { bytes: made, mediaType: 'image/' + form, width, height };
      break;
    }
  }
  parentPort.postMessage(answer ?? { problem: 'it stays too large however small it is made' });
}
`;
