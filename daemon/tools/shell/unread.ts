/**
 * A second look at the text itself, for what the grammar may have passed over: wherever a command substitution begins that the shell would run,
 * the tree must have one. It knows four places where it would not: single quotes, comments, quoted here-documents, and behind a backslash.
 * And a backslash outside of every word escapes something that the grammar took for a blank, so that what follows is no comment and no option.
 */
import type { Node } from 'web-tree-sitter';

interface Looked {
  /** Where a substitution begins, or ends, that the tree knows. */
  readonly known: Set<number>;
  /** Where nothing is run. */
  readonly silent: { from: number; to: number }[];
  /** Words, and what else a backslash may stand in. */
  readonly words: { from: number; to: number }[];
}

export function hasUnread(root: Node, source: string): boolean {
  const looked: Looked = { known: new Set(), silent: [], words: [] };
  look(root, looked);
  for (const { index } of source.matchAll(/\$\(|`/g))
    if (!looked.known.has(index) && !isEscaped(source, index) && !isIn(looked.silent, index)) return true;
  for (const { index } of source.matchAll(/\\[^\n]/g))
    if (!isIn(looked.words, index) && !isIn(looked.silent, index)) return true;
  return false;
}

function isIn(ranges: readonly { from: number; to: number }[], index: number): boolean {
  return ranges.some(({ from, to }) => index >= from && index < to);
}

function look(node: Node, looked: Looked): void {
  const { known, silent, words } = looked;
  if (mayHoldBackslash.has(node.type)) words.push({ from: node.startIndex, to: node.endIndex });
  switch (node.type) {
    case 'command_substitution':
      known.add(node.startIndex).add(node.endIndex - 1);
      break;
    case 'arithmetic_expansion':
      known.add(node.startIndex);
      break;
    case 'raw_string':
    case 'ansi_c_string':
    case 'comment':
      silent.push({ from: node.startIndex, to: node.endIndex });
      return;
    case 'heredoc_redirect': {
      const start = node.children.find((child) => child.type === 'heredoc_start');
      const body = node.children.find((child) => child.type === 'heredoc_body');
      if (start !== undefined && body !== undefined && /['"\\]/.test(start.text))
        silent.push({ from: body.startIndex, to: body.endIndex });
      break;
    }
    default:
  }
  for (const child of node.children) look(child, looked);
}

const mayHoldBackslash = new Set([
  'word',
  'string',
  'translated_string',
  'concatenation',
  'command_name',
  'extglob_pattern',
  'regex',
  'heredoc_body',
  'heredoc_start',
  'expansion',
]);

function isEscaped(source: string, index: number): boolean {
  let backslashes = 0;
  while (source[index - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
