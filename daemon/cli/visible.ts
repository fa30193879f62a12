/**
 * Text of a model or a tool for a terminal: what could move the cursor, hide or reorder what stands there (control characters, bidirectional
 * marks, zero-width characters) is written out, so that what a person allows is what they see. Line breaks and tabs stay.
 */
export function visible(text: string): string {
  // \p{Cc}: control; \p{Cf}: format, with the bidirectional and zero-width ones; the separators break lines in some terminals.
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    if (character === '\n' || character === '\t') return character;
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
