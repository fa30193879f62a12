/**
 * Which model a session takes, of all who may say so. Pure. Who named it for this one run wins; then what the session itself has had; then the
 * environment, the settings, and what is there.
 */
export interface ModelWishes {
  /** Named for this run or this session: `--model`, the picker. */
  readonly flag: string | null;
  /** What a session that goes on has had. */
  readonly session: string | null;
  /** ALCOVE_MODEL. */
  readonly environment: string | null;
  /** `model` in the settings. */
  readonly settings: string | null;
  /** The first offered model of the first provider that is connected, or the built-in one. */
  readonly fallback: string;
}

export function whichModel({ flag, session, environment, settings, fallback }: ModelWishes): string {
  return flag ?? session ?? environment ?? settings ?? fallback;
}
