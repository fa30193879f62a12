/**
 * What stands in one composer and was not submitted: kept by place (a session, or a project's new session) and machine, so that it
 * survives a reload. Written at each change, since a page may end without saying so.
 */
import type { Storage } from '../base/storage.ts';

export class DraftState {
  readonly #storage: Storage;
  readonly #place: string;
  #text = $state('');

  constructor(storage: Storage, machineId: string, place: string) {
    this.#storage = storage;
    this.#place = `draft.${machineId}.${place}`;
    const kept = storage.read(this.#place);
    if (typeof kept === 'string') this.#text = kept;
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.#storage.write(this.#place, text === '' ? null : text);
  }
}
