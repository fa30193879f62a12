/** Opens the dialog of models for a place that has one: a session, or a session to be. */
import type { Effort } from '#protocol/values/model.ts';
import type { AppState } from '../../state/app.svelte.ts';
import { fitEffort } from '../../view/model-words.ts';

export interface ModelPlace {
  readonly chosen: () => { readonly model: string | null; readonly effort: Effort | null };
  /** With another effort where the one that holds does not fit the model. */
  readonly onchoice: (model: string, effort: Effort | null) => void;
  /** Null: no effort is chosen here. */
  readonly oneffort: ((effort: Effort | null) => void) | null;
  readonly note: string | null;
}

export function chooseModel(app: AppState, place: ModelPlace): void {
  app.dialogs.show({
    type: 'model',
    chosen: place.chosen,
    note: place.note,
    oneffort: place.oneffort,
    onmodel: taking(app, place),
  });
}

/** A model that is picked where its provider was just connected. */
export function connectFor(app: AppState, provider: string | null, place: ModelPlace): void {
  app.dialogs.show({ type: 'connect', provider, onmodel: taking(app, place) });
}

function taking(app: AppState, place: ModelPlace): (model: string) => void {
  return (model) => place.onchoice(model, fitEffort(place.chosen().effort, app.models.named(model)));
}
