/**
 * The moments at which a page should not wait for the next retry: the network is back, the page comes into view, or it is taken out of the
 * browser's back-forward cache. Whether anything needs doing, the client knows.
 */
export function watchPage(
  page: Pick<Window, 'addEventListener' | 'removeEventListener' | 'document'>,
  wake: () => void,
): () => void {
  const { document } = page;
  const whenVisible = (): void => {
    if (document.visibilityState === 'visible') wake();
  };
  page.addEventListener('online', wake);
  page.addEventListener('pageshow', wake);
  document.addEventListener('visibilitychange', whenVisible);
  return () => {
    page.removeEventListener('online', wake);
    page.removeEventListener('pageshow', wake);
    document.removeEventListener('visibilitychange', whenVisible);
  };
}
