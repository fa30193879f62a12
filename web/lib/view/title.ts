/**
 * The page's title: how many sessions need the person, then the place, then the app: "(2) Coupons, Alcove".
 * The count is that of the list, the badge and the phone's bar.
 */
export function pageTitle(needsYou: number, place: string | null): string {
  const name = place === null || place === '' ? 'Alcove' : `${place}, Alcove`;
  return needsYou > 0 ? `(${needsYou}) ${name}` : name;
}
