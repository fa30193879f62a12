/**
 * Command output as spans for the screen: SGR colours and weights kept, other escape sequences left out (they move a cursor that is not
 * here), a carriage return starts its line anew as a terminal would, control characters drawn. Colours of the sixteen are names, so that
 * each theme has its own; others are as the program gave them.
 */
import { visiblePieces } from './visible.ts';

export interface AnsiStyle {
  /** A name of the sixteen ("red", "bright-red") or `#rrggbb`; null: the page's own. */
  readonly colour: string | null;
  readonly background: string | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly strike: boolean;
}

export interface AnsiSpan {
  readonly text: string;
  readonly style: AnsiStyle;
  /** The name of a control character that `text` stands for; null for plain text. */
  readonly mark: string | null;
}

interface State extends AnsiStyle {
  readonly inverse: boolean;
}

const plain: State = {
  colour: null,
  background: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};
const sixteen = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** One sequence: CSI, OSC and the like up to their end (or the end of the text, where the output was cut), or two characters. */
const sequence =
  /\u001b(?:\[([0-9;:?<=>!]*)[ -/]*([@-~])|\[[0-9;:?<=>!]*[ -/]*$|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[ -/]*[0-Z\\^-~]|$)/g;

export function ansiSpans(text: string): AnsiSpan[] {
  const spans: AnsiSpan[] = [];
  let state = plain;
  let place = 0;
  /** The line is to be written over by what comes next, unless that is its end. */
  let returned = false;
  const write = (stretch: string): void => {
    for (const piece of stretch.split(/(\r)/)) {
      if (piece === '\r') returned = true;
      else if (piece !== '') {
        if (returned && !piece.startsWith('\n')) dropLine(spans);
        returned = false;
        push(spans, piece, styleOf(state));
      }
    }
  };
  for (const match of text.matchAll(sequence)) {
    write(text.slice(place, match.index));
    place = match.index + match[0].length;
    if (match[2] === 'm') state = select(state, match[1] ?? '');
  }
  write(text.slice(place));
  return spans;
}

/** The text as it would be copied: without colours. */
export function withoutAnsi(text: string): string {
  return text.replace(sequence, '');
}

function push(spans: AnsiSpan[], text: string, style: AnsiStyle): void {
  for (const piece of visiblePieces(text)) {
    const last = spans.at(-1);
    if (last !== undefined && piece.mark === null && last.mark === null && sameStyle(last.style, style))
      spans[spans.length - 1] = { ...last, text: last.text + piece.text };
    else spans.push({ text: piece.text, style, mark: piece.mark });
  }
}

/** Takes back what was written since the last line break. */
function dropLine(spans: AnsiSpan[]): void {
  for (let last = spans.pop(); last !== undefined; last = spans.pop()) {
    const lineBreak = last.text.lastIndexOf('\n');
    if (lineBreak < 0) continue;
    spans.push({ ...last, text: last.text.slice(0, lineBreak + 1) });
    return;
  }
}

function select(state: State, parameters: string): State {
  // 38:2::r:g:b is the standard's own form of 38;2;r;g;b.
  const codes = parameters
    .replace(/([34]8:2):[0-9]*(:[0-9]+:[0-9]+:[0-9]+)/g, '$1$2')
    .split(/[;:]/)
    .map((code) => (code === '' ? 0 : Number(code)));
  let next = state;
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(index + 1));
      next = code === 38 ? { ...next, colour } : { ...next, background: colour };
      index += used;
    } else next = apply(next, code);
  }
  return next;
}

function apply(state: State, code: number): State {
  if (code === 0) return plain;
  if (code === 1) return { ...state, bold: true };
  if (code === 2) return { ...state, dim: true };
  if (code === 3) return { ...state, italic: true };
  if (code === 4 || code === 21) return { ...state, underline: true };
  if (code === 7) return { ...state, inverse: true };
  if (code === 9) return { ...state, strike: true };
  if (code === 22) return { ...state, bold: false, dim: false };
  if (code === 23) return { ...state, italic: false };
  if (code === 24) return { ...state, underline: false };
  if (code === 27) return { ...state, inverse: false };
  if (code === 29) return { ...state, strike: false };
  if (code >= 30 && code <= 37) return { ...state, colour: sixteen[code - 30] ?? null };
  if (code === 39) return { ...state, colour: null };
  if (code >= 40 && code <= 47) return { ...state, background: sixteen[code - 40] ?? null };
  if (code === 49) return { ...state, background: null };
  if (code >= 90 && code <= 97) return { ...state, colour: `bright-${sixteen[code - 90] ?? ''}` };
  if (code >= 100 && code <= 107) return { ...state, background: `bright-${sixteen[code - 100] ?? ''}` };
  return state;
}

/** What follows 38 or 48: the colour, and how many codes it took. */
function extended(codes: readonly number[]): [string | null, number] {
  if (codes[0] === 5) return [ofPalette(codes[1] ?? 0), 2];
  if (codes[0] === 2) return [hex(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4];
  return [null, 1];
}

function ofPalette(index: number): string | null {
  if (index < 8) return sixteen[index] ?? null;
  if (index < 16) return `bright-${sixteen[index - 8] ?? ''}`;
  if (index < 232) {
    const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
    const cube = index - 16;
    return hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
  }
  const grey = 8 + (Math.min(index, 255) - 232) * 10;
  return hex(grey, grey, grey);
}

function hex(...channels: [number, number, number]): string {
  return `#${channels.map((channel) => Math.min(255, channel).toString(16).padStart(2, '0')).join('')}`;
}

function styleOf({ inverse, ...style }: State): AnsiStyle {
  if (!inverse) return style;
  return { ...style, colour: style.background ?? 'black', background: style.colour ?? 'white' };
}

function sameStyle(one: AnsiStyle, other: AnsiStyle): boolean {
  return (
    one.colour === other.colour &&
    one.background === other.background &&
    one.bold === other.bold &&
    one.dim === other.dim &&
    one.italic === other.italic &&
    one.underline === other.underline &&
    one.strike === other.strike
  );
}
