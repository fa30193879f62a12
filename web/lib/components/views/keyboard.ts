/**
 * The on-screen keyboard, as far as the page can know it: where the visible part is smaller than the page, the frame shrinks to it, so that
 * the composer stands above the keyboard also in browsers that lay the keyboard over the page.
 */
export function followKeyboard(window: Window): () => void {
  const viewport = window.visualViewport;
  if (viewport === null) return () => undefined;
  const root = window.document.documentElement;
  // Smaller differences are a browser's own bars that come and go.
  const leastKeyboard = 120;
  const follow = (): void => {
    // Zoomed in by two fingers: the page is not smaller, it is nearer.
    const covered = viewport.scale > 1.01 ? 0 : window.innerHeight - viewport.height;
    const open = covered > leastKeyboard;
    root.style.setProperty('--keyboard', open ? `${covered}px` : '0px');
    root.toggleAttribute('data-keyboard', open);
    if (open) window.scrollTo(0, 0);
  };
  viewport.addEventListener('resize', follow);
  viewport.addEventListener('scroll', follow);
  return () => {
    viewport.removeEventListener('resize', follow);
    viewport.removeEventListener('scroll', follow);
  };
}
