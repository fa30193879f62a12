/**
 * Whether a newer version of the app waits, and the way to it. It is taken only when the person says so: nothing reloads under a draft.
 * An own flag says that this page asked for it, since on a first visit the worker's own idea of an update is not there yet.
 */
import { Workbox } from 'workbox-window';

/** A page that stays open for days asks anew. */
const checkMs = 60 * 60_000;

export class UpdateState {
  readonly #reload: () => void;
  #workbox: Workbox | null = null;
  #available = $state(false);
  #applying = $state(false);

  /** `reload` reloads the page. */
  constructor(reload: () => void) {
    this.#reload = reload;
  }

  get available(): boolean {
    return this.#available;
  }

  /** The person said yes; the page is about to reload. */
  get applying(): boolean {
    return this.#applying;
  }

  /** Registers the worker. Without one (a private window, an old browser) the app works all the same, and does not open offline. */
  start(script: string): void {
    if (!('serviceWorker' in navigator)) return;
    const workbox = new Workbox(script);
    workbox.addEventListener('waiting', () => {
      this.#available = true;
    });
    workbox.addEventListener('controlling', () => {
      if (this.#applying) this.#reload();
    });
    workbox.register().catch(() => undefined);
    this.#workbox = workbox;
    setInterval(() => this.check(), checkMs);
  }

  check(): void {
    this.#workbox?.update().catch(() => undefined);
  }

  apply(): void {
    this.#applying = true;
    this.#workbox?.messageSkipWaiting();
  }
}
