/** The keys that work everywhere, also while one writes: none of them takes a letter, or a combination that a browser keeps for itself. */
export type FrameKey = 'sidebar' | 'next-needing' | 'previous' | 'next' | 'model';

export function frameKey(event: KeyboardEvent): FrameKey | null {
  if (event.isComposing) return null;
  const command = (event.ctrlKey || event.metaKey) && !event.altKey;
  if (event.shiftKey) return command && event.key.toLowerCase() === 'm' ? 'model' : null;
  if (command && event.key.toLowerCase() === 'b') return 'sidebar';
  if (command && event.key.toLowerCase() === 'j') return 'next-needing';
  if (event.altKey && !event.ctrlKey && !event.metaKey && event.key === 'ArrowUp') return 'previous';
  if (event.altKey && !event.ctrlKey && !event.metaKey && event.key === 'ArrowDown') return 'next';
  return null;
}
