/**
 * The opening words of a session, by which a list names it until it has a title: the first line of the first input that says something,
 * without its Markdown. Pure, and the same in every engine: no cut ever splits a character, an accent from its letter, or a joined emoji.
 */
import type { InputPart } from '../values/content.ts';

/** Longest opening words kept, in code points: more than any list shows. */
export const maxOpening = 80;

/** Null where the input has neither words nor a name. */
export function openingWords(parts: readonly InputPart[]): string | null {
  for (const part of parts) {
    if (part.type !== 'text' || part.name !== undefined) continue;
    const line = firstLine(part.text);
    if (line !== null) return cut(line, maxOpening);
  }
  // Files and pictures alone: the first of them says what it is about.
  const named = parts.find((part) => part.type !== 'text' || part.name !== undefined);
  return named?.name === undefined ? null : cut(named.name, maxOpening);
}

/** The first line with words of its own; of a text that is all marks, the first line as it stands. */
function firstLine(text: string): string | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  for (const line of lines) {
    const words = withoutMarkdown(line);
    if (/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(words)) return words;
  }
  return lines[0]?.trim() ?? null;
}

/** A line's words: without what makes it a heading, a quote or a list, without emphasis, and links by their text. */
export function withoutMarkdown(line: string): string {
  if (/^\s*(```|~~~)/.test(line)) return '';
  return (
    line
      .replace(/^\s*(?:>\s*|#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)*/, '')
      .replace(/!?\[([^\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/g, '$1')
      .replace(/<(https?:\/\/[^\s<>]+)>/g, '$1')
      .replace(/(`+)(.+?)\1/g, '$2')
      .replace(/(\*{1,3}|~~)(?=\S)(.+?)(?<=\S)\1/g, '$2')
      // Underscores only around whole words: they stand in names too.
      .replace(/(?<![\p{L}\p{N}_])(_{1,3})(?=\S)(.+?)(?<=\S)\1(?![\p{L}\p{N}_])/gu, '$2')
      .replace(/\s+/g, ' ')
      .trim()
  );
}

/** At most `limit` code points, the last one then an ellipsis. */
export function cut(text: string, limit: number): string {
  const points = [...text];
  if (points.length <= limit) return text;
  let end = limit - 1;
  // What joins or modifies the character before stays with it; the bound is for hostile input.
  for (let back = 0; back < 16 && end > 0 && (joins(points[end]) || points[end - 1] === '\u200d'); back += 1) end -= 1;
  return `${points.slice(0, end).join('').trimEnd()}…`;
}

function joins(point = ''): boolean {
  return /^[\p{M}\u200d\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}]$/u.test(point);
}
