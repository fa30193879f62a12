/** The favicon is the arch in the state of the whole machine: amber with a keyhole while anyone is waited for, teal while something runs. */
export type Standing = 'waiting' | 'running' | 'resting';

export function drawFavicon(document: Document, standing: Standing): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link === null) return;
  const arch = 'M9 25V13.5a7 7 0 0 1 14 0V25a1 1 0 0 1-1 1H10a1 1 0 0 1-1-1Z';
  const keyhole = 'M16 12a2.4 2.4 0 0 0-1.2 4.5L14 21h4l-.8-4.5A2.4 2.4 0 0 0 16 12Z';
  const shapes: Record<Standing, string> = {
    waiting: `<path fill="#f0b95f" fill-rule="evenodd" d="${arch}${keyhole}"/>`,
    running: `<path fill="#6cd0c8" d="${arch}"/>`,
    resting: `<path fill="none" stroke="#c9ccd3" stroke-width="2.5" d="M10 25V13.5a6 6 0 0 1 12 0V25Z"/>`,
  };
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#16181d"/>${shapes[standing]}</svg>`;
  link.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
