/**
 * Colours for code, by highlight.js. The library is fetched when the first code is to be coloured; until then, and for a language that is
 * not among ours, code is shown plain. What comes out is HTML made of escaped text and `span` with classes, nothing else.
 */
interface Library {
  highlight(code: string, language: string): string | null;
}

/** Beyond this, colouring takes longer than a frame and tells little. */
const maxLength = 60_000;

let library: Library | null = null;
let loading: Promise<Library> | null = null;

/** Null: plain, for good, or until the library is here (see `loadHighlighter`). */
export function highlighted(code: string, language: string): string | null {
  return code.length > maxLength ? null : (library?.highlight(code, language) ?? null);
}

/** Resolves when `highlighted` can answer. Rejects where the library cannot be fetched, and is tried anew at the next call. */
export async function loadHighlighter(): Promise<void> {
  loading ??= import('./languages.ts');
  try {
    library = await loading;
  } catch (error) {
    loading = null;
    throw error;
  }
}
