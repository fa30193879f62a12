/**
 * Reads the arguments of a tool call as a model wrote them. What is not a JSON object becomes a problem that the model is told, so that one
 * bad call does not take the others with it.
 */
import type { ModelCall } from '../item.ts';

/** Models often send nothing at all for a tool without parameters; that is an empty object. */
export function readArguments(text: string): Pick<ModelCall, 'arguments' | 'problem'> {
  if (text.trim() === '') return { arguments: {}, problem: null };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { arguments: {}, problem: `The arguments are not valid JSON (${reason}). Nothing was run.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
    return { arguments: {}, problem: `The arguments must be a JSON object, but they are ${found}. Nothing was run.` };
  }
  return { arguments: value as Record<string, unknown>, problem: null };
}
