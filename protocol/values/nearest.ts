/** The known name that somebody may have meant by an unknown one: by edits of letters, and by words that stand in it. Pure. */

/** Null where nothing is near: a wrong guess is worse than none. A name that is known is its own nearest. */
export function nearest(name: string, names: readonly string[]): string | null {
  const wanted = plain(name);
  const limit = Math.max(1, Math.floor(wanted.length / 4));
  let best: string | null = null;
  let least = limit + 1;
  for (const one of names) {
    if (one === name) return one;
    // Few people write the date that ends a model's name.
    for (const form of new Set([plain(one), plain(one).replace(date, '')])) {
      const distance = edits(wanted, form, least);
      if (distance >= least) continue;
      best = one;
      least = distance;
    }
  }
  return best ?? contained(wanted, names);
}

const date = /-(latest|\d{8}|\d{4}-\d{2}-\d{2})$/;

/** The shortest name that holds all of what was written, such as a date left out. */
function contained(wanted: string, names: readonly string[]): string | null {
  if (wanted.length < 4) return null;
  const holding = names.filter((one) => plain(one).includes(wanted));
  return holding.reduce<string | null>((best, one) => (best === null || one.length < best.length ? one : best), null);
}

/** Capitals and kinds of separators are no mistake worth counting. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_.: ]/g, '-');
}

/** Insertions, deletions, replacements and swaps of neighbours from one text to the other; `over` where they are that many or more. */
function edits(from: string, to: string, over: number): number {
  if (Math.abs(from.length - to.length) >= over) return over;
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, place) => place);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    if (Math.min(...row) >= over) return over;
    before = last;
    last = row;
  }
  return Math.min(over, last[to.length] ?? over);
}
