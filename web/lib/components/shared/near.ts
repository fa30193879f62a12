/** Calls once, as soon as `box` is within `margin` (a CSS length) of the view; answers how to stop waiting. For what is fetched only when seen. */
export function onceNear(box: Element, margin: string, near: () => void): () => void {
  const observer = new IntersectionObserver(
    ([entry]) => {
      if (entry?.isIntersecting !== true) return;
      near();
      observer.disconnect();
    },
    { rootMargin: margin },
  );
  observer.observe(box);
  return () => observer.disconnect();
}
