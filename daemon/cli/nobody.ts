/** What a run says in the place of a person where there is none: to the model, in the result of its call. A recording is replayed with the same words. */

export function unattended(caution: boolean): string {
  return caution
    ? 'Nobody can be asked here, so it was denied; only a terminal or the app can allow it.'
    : 'Nobody can be asked here, so it was denied; run with --mode auto to allow it, or in a terminal or the app.';
}

export function noAnswer(plan: boolean): string {
  return plan
    ? 'Nobody can read the plan here, and nothing may be changed: give the plan as your answer, and stop.'
    : 'Nobody can be asked here: decide yourself, say what you took for granted, and go on.';
}
