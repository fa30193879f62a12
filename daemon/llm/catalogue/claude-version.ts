/** The version that stands in the name of a Claude: what it can do follows from it. Pure. */

/** Major and minor version of a Claude as one number (`claude-opus-4-6` is 4.06); null for the models of others. */
export function claudeVersion(model: string): number | null {
  const found = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?(?!\d)/i.exec(model);
  if (found?.[1] !== undefined) return Number(found[1]) + Number(found[2] ?? 0) / 100;
  // A Claude whose name has no number is newer than those that had to have one.
  return /claude-[a-z]/i.test(model) ? Infinity : null;
}
