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

/**
 * A test that a value fits, made once for a schema and several times quicker than parsing: nothing is copied. True means that `misfit` would
 * say null. False decides nothing: ask `misfit`, who also says why. Whatever is not known here is asked of the validator itself.
 */
export function quickFit(schema: Schema<unknown>): (value: unknown) => boolean {
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  const slowly = (value: unknown) => z.safeParse(schema, value).success;
  const checks = (def.checks ?? []).map((check) => quickCheck(check as z.core.$ZodChecks));
  if (checks.includes(null)) return slowly;
  const fits = quickType(def);
  if (fits === null) return slowly;
  if (checks.length === 0) return fits;
  return (value) => fits(value) && checks.every((check) => check?.(value));
}

type Fits = (value: unknown) => boolean;

/** Null for a kind of schema that is not known here. */
function quickType(def: z.core.$ZodTypes['_zod']['def']): Fits | null {
  if (def.type === 'string') return 'format' in def ? null : (value) => typeof value === 'string';
  if (def.type === 'number') {
    if (!('format' in def)) return (value) => Number.isFinite(value);
    return def.format === 'safeint' ? (value) => Number.isSafeInteger(value) : null;
  }
  if (def.type === 'boolean') return (value) => typeof value === 'boolean';
  if (def.type === 'enum' || def.type === 'literal') {
    const known = new Set<unknown>(def.type === 'enum' ? Object.values(def.entries) : def.values);
    return (value) => known.has(value);
  }
  if (def.type === 'custom') return (value) => def.fn(value) === true;
  if (def.type === 'nullable') {
    const inner = quickFit(def.innerType as Schema<unknown>);
    return (value) => value === null || inner(value);
  }
  if (def.type === 'array') {
    const element = quickFit(def.element as Schema<unknown>);
    return (value) => Array.isArray(value) && value.every(element);
  }
  if (def.type === 'union' && def.inclusive !== false) {
    const options = def.options.map((option) => quickFit(option as Schema<unknown>));
    return (value) => options.some((option) => option(value));
  }
  return def.type === 'object' && def.catchall === undefined ? quickObject(def) : null;
}

/** A field that is there with nothing in it is left to the validator. */
function quickObject({ shape }: z.core.$ZodObjectDef): Fits {
  const fields = Object.entries(shape).map(([name, schema]) => {
    const { def } = (schema as z.core.$ZodTypes)._zod;
    const optional = def.type === 'optional' && (def.checks ?? []).length === 0;
    const fits = quickFit((optional ? def.innerType : schema) as Schema<unknown>);
    return { name, optional, fits };
  });
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    for (const { name, optional, fits } of fields) {
      const field = (value as Record<string, unknown>)[name];
      if (field === undefined ? !(optional && !(name in value)) : !fits(field)) return false;
    }
    return true;
  };
}

/** Called with values of the right type alone. A text has at most as many characters as UTF-16 units. Null for a check that is not known here. */
function quickCheck(check: z.core.$ZodChecks): Fits | null {
  const { def } = check._zod;
  if (def.check === 'string_format' && def.format === 'regex') {
    const { pattern } = def;
    if (pattern === undefined || pattern.global || pattern.sticky) return null;
    return (value) => pattern.test(value as string);
  }
  if (def.check === 'max_length') {
    const { maximum } = def;
    return (value) => (value as string | unknown[]).length <= maximum;
  }
  if (def.check === 'greater_than') {
    const { value: least, inclusive } = def;
    if (typeof least !== 'number') return null;
    return (value) => (inclusive ? (value as number) >= least : (value as number) > least);
  }
  return null;
}
