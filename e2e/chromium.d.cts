/** Types of chromium.cjs, for the Playwright configuration and the bench. */
export interface Chromium {
  /** Null: Playwright's own. */
  readonly executablePath: string | null;
}
export function find(): Chromium | null;
export function bring(): Chromium;
export const quietArguments: readonly string[];
