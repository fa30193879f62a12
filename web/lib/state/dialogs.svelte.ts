/**
 * Which dialog is open, asked for from anywhere in the page and drawn in one place. One at a time: the next takes the place of the one
 * before. What a dialog came to goes to whoever asked for it.
 */
import type { Effort } from '#protocol/values/model.ts';

export type Asked =
  | {
      readonly type: 'model';
      /** What holds now, read as it changes while the dialog is open. */
      readonly chosen: () => { readonly model: string | null; readonly effort: Effort | null };
      readonly onmodel: (model: string) => void;
      /** Null: no effort is chosen here. */
      readonly oneffort: ((effort: Effort | null) => void) | null;
      /** What choosing does beside choosing, in a few words. */
      readonly note: string | null;
      /** What the search field begins with. */
      readonly search?: string;
    }
  | {
      readonly type: 'connect';
      /** Of which provider the form is shown first; null: the list. */
      readonly provider: string | null;
      /** A model of a provider that was just connected was picked. */
      readonly onmodel: (model: string) => void;
    }
  | {
      readonly type: 'folder';
      /** What the field begins with. */
      readonly path?: string;
      /** Rejects with a sentence where the folder cannot be opened; the dialog stays. */
      readonly onopen: (path: string) => Promise<void>;
    };

export class DialogsState {
  #asked = $state.raw<Asked | null>(null);

  get asked(): Asked | null {
    return this.#asked;
  }

  show(asked: Asked): void {
    this.#asked = asked;
  }

  close(): void {
    this.#asked = null;
  }
}
