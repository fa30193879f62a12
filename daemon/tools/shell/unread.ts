/**
 * A second look at the text itself, for what the grammar may have passed over: wherever a command substitution begins that the shell would run,
 * the tree must have one. It knows four places where it would not: single quotes, comments, quoted here-documents, and behind a backslash.
 */
import type { Node } from 'web-tree-sitter';

/** True where a `$(` or a backquote stands that the tree does not know as the beginning, or the end, of a substitution. */
export function hasUnreadSubstitution(root: Node, source: string): boolean {
  const known = new Set<number>();
  const silent: { from: number; to: number }[] = [];
  look(root, known, silent);
  for (const { index } of source.matchAll(/\$\(|`/g)) {
    if (known.has(index) || isEscaped(source, index)) continue;
    if (silent.some(({ from, to }) => index >= from && index < to)) continue;
    return true;
  }
  return false;
}

function look(node: Node, known: Set<number>, silent: { from: number; to: number }[]): void {
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
  for (const child of node.children) look(child, known, silent);
}

function isEscaped(source: string, index: number): boolean {
  let backslashes = 0;
  while (source[index - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
