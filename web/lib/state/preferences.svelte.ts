/**
 * What a person set about this screen, kept in this browser. The page reads theme, text size and motion before its first paint (theme.js),
 * so that nothing else flashes up.
 */
import { isRecord, type Storage } from '../base/storage.ts';

const themes = ['system', 'light', 'dark', 'contrast'] as const;
export type Theme = (typeof themes)[number];
export type ResolvedTheme = Exclude<Theme, 'system'>;
const textSizes = ['small', 'normal', 'large', 'larger'] as const;
export type TextSize = (typeof textSizes)[number];
/** `less`: also where the system does not ask for it. */
export type Motion = 'system' | 'less';

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
  #textSize = $state<TextSize>('normal');
  #motion = $state<Motion>('system');

  constructor(storage: Storage, look: SystemLook) {
    this.#storage = storage;
    const theme = storage.read('theme');
    this.#theme = themes.find((one) => one === theme) ?? 'system';
    const kept = storage.read('preferences');
    if (isRecord(kept)) {
      this.#sidebarOpen = kept['sidebarOpen'] !== false;
      this.#singleKeys = kept['singleKeys'] !== false;
      this.#textSize = textSizes.find((one) => one === kept['textSize']) ?? 'normal';
      this.#motion = kept['motion'] === 'less' ? 'less' : 'system';
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

  get textSize(): TextSize {
    return this.#textSize;
  }

  set textSize(size: TextSize) {
    this.#textSize = size;
    this.#keep();
  }

  get motion(): Motion {
    return this.#motion;
  }

  set motion(motion: Motion) {
    this.#motion = motion;
    this.#keep();
  }

  #keep(): void {
    this.#storage.write('preferences', {
      sidebarOpen: this.#sidebarOpen,
      singleKeys: this.#singleKeys,
      textSize: this.#textSize,
      motion: this.#motion,
    });
  }
}
