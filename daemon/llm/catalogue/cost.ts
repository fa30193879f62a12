/**
 * What a reply cost, in US dollars: tokens times prices, tokens from the cache at their own price. Null where the usage or a price that is
 * needed is unknown. Pure. A provider that says nothing of its cache is taken at the full price: never less than it was.
 */
import type { ModelPrice } from '#protocol/commands/model.ts';
import type { Usage } from '#protocol/values/usage.ts';

export function costOf(usage: Usage | null, price: ModelPrice | null): number | null {
  if (usage?.input == null || usage.output === null || price === null) return null;
  const cacheRead = usage.cacheRead ?? 0;
  const cacheWrite = usage.cacheWrite ?? 0;
  // Counts that contradict each other come from vendors that count the cache beside the input.
  const plain = Math.max(0, usage.input - cacheRead - cacheWrite);
  const parts: [tokens: number, dollars: number | null][] = [
    [plain, price.input],
    [cacheRead, price.cacheRead],
    [cacheWrite, price.cacheWrite],
    [usage.output, price.output],
  ];
  let sum = 0;
  for (const [tokens, dollars] of parts) {
    if (tokens === 0) continue;
    if (dollars === null) return null;
    sum += tokens * dollars;
  }
  return sum / 1_000_000;
}
