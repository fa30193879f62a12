/**
 * A file name as models write it, where the disk has it in other characters that look the same: macOS puts a narrow no-break space before
 * the PM of a screenshot's name, and file systems and archives keep é as one code point or as two. Nobody can see the difference, and a model that was
 * shown the name gives back the usual form.
 */
import { opendir } from 'node:fs/promises';
import { maxLookAlikeNames } from '../base/limits.ts';

/**
 * What may stand for a name that is not there. `exact`: nothing, as for a shell. `same`: the same letters in another form of Unicode, for a file that
 * may be new. `alike`: also other spaces, quotes and dashes, for one that must be there.
 */
export type NameMatch = 'exact' | 'same' | 'alike';

/** The one name in the folder that looks like this one; null for none, for several, and where there are too many to look through. */
export async function lookAlike(folder: string, name: string, match: NameMatch): Promise<string | null> {
  if (match === 'exact' || !canDiffer.test(name)) return null;
  const wanted = folds[match](name);
  let found: string | null = null;
  let names = 0;
  try {
    for await (const entry of await opendir(folder)) {
      if (++names > maxLookAlikeNames) return null;
      if (folds[match](entry.name) !== wanted) continue;
      if (found !== null) return null;
      found = entry.name;
    }
  } catch {
    return null; // no folder, or not for us: what opens the path tells
  }
  return found;
}

/** Most names have no other form: their folder need not be looked through. */
const canDiffer = /[^!#-&(-,./-~]/;

const folds = {
  same: (name: string) => name.normalize('NFC'),
  alike: (name: string) =>
    name
      .normalize('NFC')
      .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ')
      .replace(/[‘’‚‛]/g, "'")
      .replace(/[“”„‟]/g, '"')
      .replace(/[‐‑‒–—―−]/g, '-'),
} as const;
