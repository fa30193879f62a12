/**
 * A short name for a command's parameters, by which a repeat is told from a conflict: SHA-256 over canonical JSON (keys sorted, no spaces,
 * nothing undefined) without the command's id, cut to 128 bits. Stands in logs: what it answers for a value must never change.
 */
import { createHash } from 'node:crypto';

const digestLength = 32;

export function digestOf(params: object): string {
  const { commandId: _, ...rest } = params as Record<string, unknown>;
  return createHash('sha256').update(canonicalJson(rest)).digest('hex').slice(0, digestLength);
}

/** The one way to write a JSON value: two values that are equal give the same text, whatever the order of their keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
