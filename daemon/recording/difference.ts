/** Where two JSON values differ first, in words for a person. */

/** As much of each value as is told. */
const shown = 160;

/** Null where they are equal, whatever the order of their keys. */
export function differenceOf(recorded: unknown, now: unknown, place = ''): string | null {
  if (Object.is(recorded, now)) return null;
  if (Array.isArray(recorded) && Array.isArray(now)) {
    for (let index = 0; index < Math.max(recorded.length, now.length); index += 1) {
      const found = differenceOf(recorded[index], now[index], below(place, index));
      if (found !== null) return found;
    }
    return null;
  }
  if (isRecord(recorded) && isRecord(now)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const found = differenceOf(recorded[name], now[name], below(place, name));
      if (found !== null) return found;
    }
    return null;
  }
  if (typeof recorded === 'string' && typeof now === 'string') return textDifference(recorded, now, place);
  return `${place}: recorded ${told(recorded)}, now ${told(now)}`;
}

/** From shortly before the first character that differs: of a long text the beginning says nothing. */
function textDifference(recorded: string, now: string, place: string): string {
  let same = 0;
  while (same < recorded.length && recorded[same] === now[same]) same += 1;
  const from = Math.max(0, same - 20);
  const where = from === 0 ? place : `${place} from character ${from}`;
  return `${where}: recorded ${told(recorded.slice(from))}, now ${told(now.slice(from))}`;
}

function told(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > shown ? `${text.slice(0, shown)}…` : text;
}

function below(place: string, name: string | number): string {
  return place === '' ? String(name) : `${place}.${name}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
