/**
 * Whether this page runs as an installed app, and the browser's own way to install it where it offers one. The browser tells the offer once,
 * early, so this listens from the start.
 */

/** What Chromium hands over; no standard types it. */
interface InstallPrompt extends Event {
  prompt(): Promise<unknown>;
}

export class InstallState {
  #installed = $state(false);
  #prompt = $state.raw<InstallPrompt | null>(null);

  constructor(window: Pick<Window, 'matchMedia' | 'addEventListener' | 'navigator'>) {
    const alone = window.matchMedia('(display-mode: standalone)');
    // Of Safari on a phone, which knows no display mode in old versions.
    const pinned = (window.navigator as { standalone?: boolean }).standalone === true;
    this.#installed = alone.matches || pinned;
    alone.addEventListener('change', () => (this.#installed = alone.matches || pinned));
    window.addEventListener('beforeinstallprompt', (event) => {
      // Shown where the person looks for it, not when the browser thinks so.
      event.preventDefault();
      this.#prompt = event as InstallPrompt;
    });
    window.addEventListener('appinstalled', () => {
      this.#installed = true;
      this.#prompt = null;
    });
  }

  get installed(): boolean {
    return this.#installed;
  }

  /** The browser can ask by itself. */
  get offered(): boolean {
    return this.#prompt !== null;
  }

  /** Each offer can be used once. */
  async install(): Promise<void> {
    const prompt = this.#prompt;
    this.#prompt = null;
    await prompt?.prompt();
  }
}
