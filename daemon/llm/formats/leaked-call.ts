/**
 * A tool call that a model wrote as text, because its server did not recognise it (PR20). Pure. Recovered only where the whole reply is one
 * call of a tool that was offered, in one of the markups that models are taught: then nothing else can be meant by it. All other text, a call
 * of an unknown tool, and a call with words around it stay text.
 */
import type { ToolOffer } from '../item.ts';
import { recordOf, textOf } from './wire-json.ts';

export interface LeakedCall {
  readonly tool: string;
  readonly argumentsText: string;
}

/** Whether a reply that begins like this may be one; so that others need not be gathered. */
export function mayBeCall(beginning: string): boolean {
  return /^\s*($|[{[`<])/.test(beginning);
}

export function leakedCall(text: string, tools: readonly ToolOffer[]): LeakedCall | null {
  const whole = text.trim();
  const found = ofMarkup(whole) ?? ofJson(unfenced(whole));
  return found !== null && tools.some((tool) => tool.name === found.tool) ? found : null;
}

function ofMarkup(whole: string): LeakedCall | null {
  const inner = inside(whole);
  if (inner !== null) return ofXml(inner) ?? ofJson(unfenced(inner)) ?? ofNamed(inner);
  return ofXml(whole) ?? ofNamed(whole);
}

/** What stands between the marks that models put around a call: one pair of them, or the one mark at its beginning. */
const pairs: readonly RegExp[] = [
  /^<tool_call>([\s\S]*?)(?:<\/tool_call>)?$/, // Hermes, Qwen, GLM
  /^<(?:function_calls|tool_calls)>([\s\S]*)<\/(?:function_calls|tool_calls)>$/,
  /^<\|tool_calls_section_begin\|>([\s\S]*?)(?:<\|tool_calls_section_end\|>)?$/, // Kimi
  /^<｜tool▁calls▁begin｜>([\s\S]*?)(?:<｜tool▁calls▁end｜>)?$/, // DeepSeek
  /^\[TOOL_CALLS\]\s*([\s\S]*)$/, // Mistral
  /^<\|python_tag\|>([\s\S]*?)(?:<\|eom_id\|>|<\|eot_id\|>)?$/, // Llama
  /^<\|tool_call\|>([\s\S]*?)(?:<\|\/tool_call\|>)?$/,
];

function inside(whole: string): string | null {
  for (const pair of pairs) {
    const inner = pair.exec(whole)?.[1];
    if (inner !== undefined) return inner.trim();
  }
  return null;
}

/** A name, then the arguments as JSON. */
const named: readonly RegExp[] = [
  /^<\|tool_call_begin\|>(?:functions\.)?([\w-]+)(?::\d+)?<\|tool_call_argument_begin\|>([\s\S]*?)<\|tool_call_end\|>$/, // Kimi
  /^<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([\w-]+)(?:<｜tool▁sep｜>|\s)\s*(?:```json)?([\s\S]*?)(?:```)?\s*<｜tool▁call▁end｜>$/, // DeepSeek
  /^([\w-]+)(?:\[ARGS\])?\s*(\{[\s\S]*\})$/, // Mistral, behind its mark
  /^(?:<\|start\|>assistant)?<\|channel\|>commentary to=functions\.([\w-]+)\s*(?:<\|constrain\|>json)?<\|message\|>([\s\S]*?)(?:<\|call\|>)?$/, // gpt-oss
];

function ofNamed(text: string): LeakedCall | null {
  for (const pattern of named) {
    const [, tool, written] = pattern.exec(text) ?? [];
    if (tool === undefined || written === undefined) continue;
    const args = objectIn(written);
    if (args !== null) return { tool, argumentsText: args };
  }
  return null;
}

/** `<function=read><parameter=path>a</parameter></function>`, or `<invoke name="read"><parameter name="path">a</parameter></invoke>`. */
function ofXml(text: string): LeakedCall | null {
  const [, tool, body] =
    /^<(?:function=|invoke name=")([\w-]+)"?>([\s\S]*)<\/(?:function|invoke)>$/.exec(text.trim()) ?? [];
  if (tool === undefined || body === undefined || /<(function=|invoke )/.test(body)) return null;
  const args: Record<string, unknown> = {};
  const parameter = /\s*<parameter(?:=| name=")([\w-]+)"?>\n?([\s\S]*?)\n?<\/parameter>\s*/y;
  while (parameter.lastIndex < body.length) {
    const [, name, value] = parameter.exec(body) ?? [];
    if (name === undefined || value === undefined) return body.trim() === '' ? { tool, argumentsText: '{}' } : null;
    args[name] = scalar(value);
  }
  return { tool, argumentsText: JSON.stringify(args) };
}

/** Lists and objects are written as JSON there, and numbers bare; all else is the text as it stands. */
function scalar(value: string): unknown {
  if (!/^\s*([[{]|-?\d+(\.\d+)?\s*$|(true|false|null)\s*$)/.test(value)) return value;
  return parsed(value) ?? value;
}

function ofJson(text: string): LeakedCall | null {
  const value = parsed(text);
  const one = recordOf(Array.isArray(value) && value.length === 1 ? value[0] : value);
  const call = Object.keys(recordOf(one['function'])).length > 0 ? recordOf(one['function']) : one;
  const tool = textOf(call['name']) || textOf(call['tool']) || textOf(call['function']);
  const args = call['arguments'] ?? call['parameters'] ?? call['args'] ?? call['input'];
  const extra = Object.keys(call).filter((name) => !known.has(name));
  if (tool === '' || args === undefined || extra.length > 0) return null;
  const written = typeof args === 'string' ? objectIn(args) : JSON.stringify(args);
  return written === null || !written.startsWith('{') ? null : { tool, argumentsText: written };
}

/** What a call is made of; JSON that says more is no call. */
const known = new Set(['type', 'id', 'name', 'tool', 'function', 'arguments', 'parameters', 'args', 'input']);

function objectIn(text: string): string | null {
  const value = parsed(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? text.trim() : null;
}

function unfenced(text: string): string {
  const [, inner] = /^```[\w-]*\n([\s\S]*?)\n?```$/.exec(text) ?? [];
  return inner === undefined || inner.includes('```') ? text : inner;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
