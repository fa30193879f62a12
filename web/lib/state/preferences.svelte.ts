/**
 * What a person set about this screen, kept in this browser. The theme stands at a place of its own (`alcove.theme`), which the page reads
 * before its first paint, so that no other theme flashes up.
 */
import { isRecord, type Storage } from '../base/storage.ts';

const themes = ['system', 'light', 'dark', 'contrast'] as const;
export type Theme = (typeof themes)[number];
export type ResolvedTheme = Exclude<Theme, 'system'>;

/** What the operating system prefers, as media queries say it. */
export interface SystemLook {
  readonly dark: MediaQueryList;
  readonly contrast: MediaQueryList;
}

export function systemLook(window: Pick<Window, 'matchMedia'>): SystemLook {
  return {
    dark: window.matchMedia('(prefers-color-scheme: dark)'),
    contrast: window.matchMedia('(prefers-contrast: more)'),
  };
}

export class PreferencesState {
  readonly #storage: Storage;
  #theme = $state<Theme>('system');
  #systemTheme = $state<ResolvedTheme>('light');
  #sidebarOpen = $state(true);
  #singleKeys = $state(true);

  constructor(storage: Storage, look: SystemLook) {
    this.#storage = storage;
    const theme = storage.read('theme');
    this.#theme = themes.find((one) => one === theme) ?? 'system';
    const kept = storage.read('preferences');
    if (isRecord(kept)) {
      this.#sidebarOpen = kept['sidebarOpen'] !== false;
      this.#singleKeys = kept['singleKeys'] !== false;
    }
    const follow = (): void => {
      this.#systemTheme = look.contrast.matches ? 'contrast' : look.dark.matches ? 'dark' : 'light';
    };
    follow();
    look.dark.addEventListener('change', follow);
    look.contrast.addEventListener('change', follow);
  }

  get theme(): Theme {
    return this.#theme;
  }

  set theme(theme: Theme) {
    this.#theme = theme;
    this.#storage.write('theme', theme);
  }

  /** What is painted: `system` resolved. */
  get resolvedTheme(): ResolvedTheme {
    return this.#theme === 'system' ? this.#systemTheme : this.#theme;
  }

  get sidebarOpen(): boolean {
    return this.#sidebarOpen;
  }

  set sidebarOpen(open: boolean) {
    this.#sidebarOpen = open;
    this.#keep();
  }

  /** Whether single letters act outside of fields (WCAG 2.1.4 asks that they can be switched off). */
  get singleKeys(): boolean {
    return this.#singleKeys;
  }

  set singleKeys(on: boolean) {
    this.#singleKeys = on;
    this.#keep();
  }

  #keep(): void {
    this.#storage.write('preferences', { sidebarOpen: this.#sidebarOpen, singleKeys: this.#singleKeys });
  }
}
