/** Carries the preference to the document: the attributes that the tokens hang on, and the colour of the browser's own frame. Continues what theme.js set before the first paint. */
import type { Motion, ResolvedTheme, TextSize } from '../../state/preferences.svelte.ts';

export function applyTheme(document: Document, theme: ResolvedTheme, systemDark: boolean): void {
  const root = document.documentElement;
  root.dataset['theme'] = theme === 'contrast' ? (systemDark ? 'dark' : 'light') : theme;
  if (theme === 'contrast') root.dataset['contrast'] = 'more';
  else delete root.dataset['contrast'];
  const ground = getComputedStyle(document.body).backgroundColor;
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) meta.content = ground;
}

export function applyReading(document: Document, size: TextSize, motion: Motion): void {
  const root = document.documentElement;
  root.dataset['textSize'] = size;
  root.dataset['motion'] = motion;
}
