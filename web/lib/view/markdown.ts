/**
 * Markdown of models and files as blocks for the screen. The text is untrusted: HTML in it is shown as text, pictures are links, a link
 * leaves the app without a way back into it and stands beside its true target, and what comes out is sanitised once more. Invariants:
 *   V1  while text grows at its end, every block but the last keeps its identity: the work for a token is that of the last block
 *   V2  what a block renders to depends on the text alone: grown and rendered at once are the same when the text has ended
 */
import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import { visiblePieces } from './visible.ts';

export type MarkdownBlock =
  /** Sanitised; for `{@html}`. */
  | { readonly type: 'html'; readonly key: string; readonly source: string; readonly html: string }
  /** A fenced or indented code block that stands by itself. */
  | {
      readonly type: 'code';
      readonly key: string;
      readonly source: string;
      readonly code: string;
      readonly language: string;
      /** Its closing fence has come. */
      readonly closed: boolean;
    };

export interface MarkdownText {
  readonly blocks: readonly MarkdownBlock[];
  /** So much of the text is in blocks that do not change any more. */
  readonly frozen: number;
  /** How many blocks those are. */
  readonly frozenBlocks: number;
  /** The headings that what comes after those blocks stands under, outermost first, by the levels that the text gave them. */
  readonly under: readonly number[];
}

export const noMarkdown: MarkdownText = { blocks: [], frozen: 0, frozenBlocks: 0, under: [] };

/**
 * Renders `text`. Give back the answer for the text before it, where `text` begins with that, and only the tail is done. `ended`: no more
 * is coming; links that are defined later in the text are then resolved.
 */
export function renderMarkdown(text: string, before: MarkdownText = noMarkdown, ended = false): MarkdownText {
  if (ended) return renderWhole(text, before);
  const frozenBlocks = before.blocks.slice(0, before.frozenBlocks);
  const tokens = parser.lexer(text.slice(before.frozen));
  const open = tokens.findLastIndex((token) => token.type !== 'space');
  const blocks = [...frozenBlocks];
  let { frozen } = before;
  let place = before.frozen;
  let count = frozenBlocks.length;
  let { under } = before;
  let here = under;
  tokens.forEach((token, index) => {
    here = placeHeadings(token, here);
    const block = renderBlock(token, place, before.blocks[blocks.length]);
    if (block !== null) blocks.push(block);
    place += token.raw.length;
    if (index < open) {
      frozen = place;
      count = blocks.length;
      under = here;
    }
  });
  return { blocks, frozen, frozenBlocks: count, under };
}

function renderWhole(text: string, before: MarkdownText): MarkdownText {
  const tokens = parser.lexer(text);
  const blocks: MarkdownBlock[] = [];
  let place = 0;
  let under: readonly number[] = [];
  for (const token of tokens) {
    under = placeHeadings(token, under);
    const block = renderBlock(token, place, before.blocks[blocks.length]);
    if (block !== null) blocks.push(block);
    place += token.raw.length;
  }
  return { blocks, frozen: text.length, frozenBlocks: blocks.length, under };
}

/**
 * Gives the headings in a token the levels that the page has for them: the title of the page is above all of them, and none skips a level,
 * whatever the text does. Answers which headings what follows stands under.
 */
function placeHeadings(token: Token, under: readonly number[]): readonly number[] {
  let open = under;
  void parser.walkTokens([token], (one) => {
    if (one.type !== 'heading') return;
    const heading = one as Tokens.Heading;
    open = [...open.filter((level) => level < heading.depth), heading.depth];
    heading.depth = Math.min(open.length + 1, 6);
  });
  return open;
}

/** Null for what shows nothing. `known` is given back where it shows the same. */
function renderBlock(token: Token, place: number, known: MarkdownBlock | undefined): MarkdownBlock | null {
  if (token.type === 'space' || token.type === 'def') return null;
  const key = String(place);
  const source = token.raw;
  if (token.type === 'code') {
    const { text: code, lang } = token as Tokens.Code;
    const language = languageOf(lang);
    const closed = isClosed(source);
    const same = known?.type === 'code' && known.key === key && known.source === source && known.language === language;
    return same && known.closed === closed ? known : { type: 'code', key, source, code, language, closed };
  }
  const html = sanitise(parser.parser([token]));
  return known?.type === 'html' && known.key === key && known.source === source && known.html === html
    ? known
    : { type: 'html', key, source, html };
}

function isClosed(source: string): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(source)?.[1];
  if (fence === undefined) return true;
  const last = source.trimEnd().split('\n').slice(1).at(-1)?.trim() ?? '';
  return last.length >= fence.length && last === fence.charAt(0).repeat(last.length);
}

/** The first word of what stands behind the fence. */
function languageOf(lang: string | undefined): string {
  return (/^[\w+#.-]+/.exec(lang ?? '')?.[0] ?? '').toLowerCase();
}

const parser = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escaped(text),
    link({ href, title, text, tokens }) {
      const inner = this.parser.parseInline(tokens);
      return linkTo(href, inner, text, title ?? null);
    },
    image: ({ href, title, text }) => linkTo(href, escaped(text === '' ? href : text), text, title ?? null),
    checkbox: ({ checked }) =>
      `<span class="task" role="img" aria-label="${checked ? 'done' : 'not done'}">${checked ? '☑' : '☐'}</span> `,
    code: ({ text, lang }) =>
      `<pre tabindex="0"><code data-language="${escaped(languageOf(lang))}">${escaped(text)}</code></pre>`,
    table(token) {
      const cells = (row: Tokens.TableCell[]): string =>
        row
          .map((cell) => {
            const tag = cell.header ? 'th' : 'td';
            const align = cell.align === null ? '' : ` class="${cell.align}"`;
            return `<${tag}${align}>${this.parser.parseInline(cell.tokens)}</${tag}>`;
          })
          .join('');
      const body = token.rows.map((row) => `<tr>${cells(row)}</tr>`).join('');
      return `<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${cells(token.header)}</tr></thead><tbody>${body}</tbody></table></div>`;
    },
  },
});

/** A link outside, with its target beside it where its words are not the target itself. What cannot be followed safely is text. */
function linkTo(href: string, inner: string, words: string, title: string | null): string {
  const target = outside(href);
  if (target === null) return `<span class="reference" title="${escaped(shown(href))}">${inner}</span>`;
  const name = target.protocol === 'mailto:' ? target.pathname : target.host;
  const plain = words.trim() === href || words.trim() === target.href || words.trim() === name;
  const beside = plain ? '' : ` <span class="link-target">${escaped(shown(name))}</span>`;
  const hint = title === null ? target.href : `${title}: ${target.href}`;
  return `<a href="${escaped(target.href)}" title="${escaped(shown(hint))}" target="_blank" rel="noopener noreferrer">${inner}</a>${beside}`;
}

function outside(href: string): URL | null {
  if (!URL.canParse(href)) return null;
  const target = new URL(href);
  return ['http:', 'https:', 'mailto:'].includes(target.protocol) ? target : null;
}

/** With characters that are drawn as nothing, or turn others round, made visible. */
function shown(text: string): string {
  return visiblePieces(text)
    .map((piece) => piece.text)
    .join('');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Attributes that no address stands in. */
const harmless = ['title', 'target', 'rel', 'class', 'role', 'aria-label', 'tabindex', 'start', 'data-language'];

/** The second wall: only what the renderer above makes gets through, whatever was made to look like it. */
function sanitise(html: string): string {
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: [
      ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'pre', 'code'],
      ...['strong', 'em', 'del', 'a', 'span', 'div', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
    ],
    ALLOWED_ATTR: ['href', ...harmless],
    // Without this their values, too, would have to look like the addresses below.
    ADD_URI_SAFE_ATTR: harmless,
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}
