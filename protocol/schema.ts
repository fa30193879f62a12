/**
 * The validator, wrapped once: every schema of the language is built from `z` and read through `parse`.
 * zod/mini keeps the page small (4 KiB); nothing else in the project names the validator package.
 */
import * as z from 'zod/mini';
import { RequestError } from './errors.ts';

export { z };
export type Schema<T> = z.ZodMiniType<T>;

/** Returns the parsed value, or throws a RequestError `invalid_params` that names the first place that does not fit. */
export function parse<T>(schema: Schema<T>, value: unknown, what: string): T {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  throw new RequestError('invalid_params', `${what} does not fit: ${firstProblem(result.error)}`);
}

/** Says where a value misfits its schema, or null where it fits. Never throws: for callers with an error of their own. */
export function misfit(schema: Schema<unknown>, value: unknown): string | null {
  const result = z.safeParse(schema, value);
  return result.success ? null : firstProblem(result.error);
}

function firstProblem(error: z.core.$ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'unknown reason';
  const place = issue.path.length > 0 ? issue.path.map(String).join('.') : 'the value itself';
  return `${place}: ${issue.message || issue.code}`;
}
