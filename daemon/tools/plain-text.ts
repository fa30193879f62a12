/**
 * Terminal output as plain text: control sequences (colours, cursor, titles) removed, a line that was drawn over by carriage returns as it
 * looked in the end. A stream of it holds back an unfinished sequence until its rest comes.
 */

/** CSI, OSC and other string sequences, two-character escapes; then what a terminal would not print. */
const sequences = new RegExp(
  [
    '\\u001b\\[[0-?]*[ -/]*[@-~]',
    '\\u001b[\\]PX^_][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)',
    '\\u001b[ -/]*[0-Z\\\\^-~]',
    '[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001a\\u001c-\\u001f\\u007f]',
  ].join('|'),
  'g',
);

/** A sequence at the end of a piece whose last character is still to come. */
const unfinished = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]*\u001b?|[ -/]*)?$/;

/** Longer than any honest sequence: what is not ended by then is shown. */
const maxSequence = 4096;

export function withoutControls(text: string): string {
  return text.replace(sequences, '').replaceAll('\u001b', '');
}

/** What a person would see of lines over which a progress bar was drawn. */
export function withoutOverdrawn(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r+(?=\n|$)/g, '').replaceAll(/^[^\n]*\r/gm, '') : text;
}

/** Bytes in, plain text out, both in pieces; characters and sequences that are cut by the pieces come out whole. */
export class PlainTextStream {
  readonly #decoder = new TextDecoder();
  #rest = '';

  push(piece: Uint8Array): string {
    return this.#plain(this.#decoder.decode(piece, { stream: true }), false);
  }

  end(): string {
    return this.#plain(this.#decoder.decode(), true);
  }

  #plain(more: string, last: boolean): string {
    const text = this.#rest + more;
    this.#rest = '';
    if (!text.includes('\u001b') && !controls.test(text)) return text;
    const open = last ? null : unfinished.exec(text.slice(-maxSequence));
    if (open === null) return withoutControls(text);
    this.#rest = open[0];
    return withoutControls(text.slice(0, text.length - open[0].length));
  }
}

const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/;

/** What a program printed, as a model reads it. */
export function printed(text: string): string {
  return withoutOverdrawn(withoutControls(text)).replace(/\n$/, '');
}
