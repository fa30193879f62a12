/** Paths of folders as a person types and reads them: `~` for the home, a slash at the end of one that is gone into. */

/** The path with the home folder written as `~`. */
export function shortPath(path: string, home: string | null): string {
  if (home === null || home === '/') return path;
  if (path === home) return '~';
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The path as text whose completions are the folders inside. */
export function inside(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

/** What was typed, where it is a whole path of some folder below the root or the home; else null. */
export function typedFolder(text: string): string | null {
  const typed = text.trim().replace(/\/+$/, '');
  return /^(~\/|\/)[^/]/.test(typed) ? typed : null;
}

/** Those that are there, as one line. */
export function joined(words: readonly (string | null)[]): string {
  return words.filter((word) => word !== null).join(' · ');
}
