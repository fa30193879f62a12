/**
 * Reading a model's arguments: unknown until here, typed after. Lenient where models commonly err: other spellings of a name, numbers and
 * booleans as text. What is still wrong is thrown as an ArgumentProblem, one sentence that lets the model do better, and caught in `prepareWith`.
 */
import type { PreparedCall } from './tool.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export class ArgumentProblem extends Error {
  override readonly name = 'ArgumentProblem';
}

/** Turns a problem of the arguments into the answer that `Tool.prepare` gives for one. */
export function prepareWith(parse: () => PreparedCall): PreparedCall | { problem: string } {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ArgumentProblem) return { problem: error.message };
    throw error;
  }
}

/** The first of the spellings that is there. */
export function pick(args: Arguments, names: readonly string[]): unknown {
  for (const name of names) {
    if (args[name] !== undefined && args[name] !== null) return args[name];
  }
  return undefined;
}

export function pathArgument(args: Arguments): string {
  const value = pick(args, ['path', 'file_path', 'filePath', 'filepath', 'filename', 'file']);
  if (typeof value !== 'string' || value.trim() === '')
    throw new ArgumentProblem('"path" is missing: give the path of a file as a string.');
  if (value.includes('\0')) throw new ArgumentProblem('"path" holds a NUL character, which no path can.');
  return value;
}

/** A folder or file to look in: the project where none is given. */
export function optionalPathArgument(args: Arguments): string {
  const value = pick(args, ['path', 'folder', 'directory', 'dir']);
  return value === undefined || value === '' ? '.' : pathArgument({ path: value });
}

export function patternArgument(args: Arguments, names: readonly [string, ...string[]], maxBytes: number): string {
  const value = pick(args, names);
  if (typeof value !== 'string' || value === '')
    throw new ArgumentProblem(`"${names[0]}" is missing: give the pattern as a string.`);
  if (value.includes('\0'))
    throw new ArgumentProblem(`"${names[0]}" holds a NUL character, which is not searched for.`);
  if (Buffer.byteLength(value) > maxBytes)
    throw new ArgumentProblem(`"${names[0]}" is longer than ${maxBytes} bytes: search for less.`);
  return value;
}

export function countArgument(args: Arguments, name: string, meaning: string): number | null {
  const value = pick(args, [name]);
  if (value === undefined || value === '') return null;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 1) {
    throw new ArgumentProblem(`"${name}" is ${JSON.stringify(value)}, but must be a whole number from 1: ${meaning}.`);
  }
  return number;
}

export function flagArgument(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(true|yes|1)$/i.test(value.trim()));
}
