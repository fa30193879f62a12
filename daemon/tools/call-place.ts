/**
 * The place of a path argument through the life of one call: found to be judged, and found again to be carried out. What was allowed is the place
 * that was judged; where the path leads elsewhere by then, because a folder became a link while somebody was asked or another call ran, the
 * call is refused, also where the new place would have been free (PM17).
 */
import type { NameMatch } from './look-alike.ts';
import { findPlace, type PathEnvironment, type Place } from './paths.ts';

export class CallPlace {
  readonly path: string;
  readonly #names: NameMatch;
  #judged: Place | null = null;

  constructor(path: string, wants: 'what is there' | 'what may be new' = 'what is there') {
    this.path = path;
    this.#names = wants === 'what is there' ? 'alike' : 'same';
  }

  /** For the assessment; of several the last one counts. */
  async judge(environment: PathEnvironment): Promise<Place> {
    this.#judged = await findPlace(this.path, environment, this.#names);
    return this.#judged;
  }

  /** For the execution: as judged, or refused. */
  async find(environment: PathEnvironment): Promise<Place> {
    const place = await findPlace(this.path, environment, this.#names);
    const judged = this.#judged;
    if (judged === null || judged.real === place.real) return place;
    const why = `${this.path} led to ${judged.shown} when the call was judged, and leads to ${place.shown} now: nothing was done. Call again if that is what you mean.`;
    return { ...place, toRead: { kind: 'refused', why }, toChange: { kind: 'refused', why } };
  }
}
