/**
 * Reads the JSON of a provider, which may be anything: a field that is missing or of another kind reads as empty, never as an error. Shared by
 * the readers of all wire formats, which must be total.
 */

export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** A count of tokens; null where there is none that makes sense, since not reported is not zero. */
export function tokensOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
