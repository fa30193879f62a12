/** What a wire format of the provider must know: to read what it is asked, and to say a call or a text, piece by piece. */
import type { ProviderFormat } from './provider.ts';
import type { Said } from './script.ts';
import type { OfferedTool } from './shell-tool.ts';

/** A request body, as far as the provider heeds it. */
export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  /** All that the agent says before the conversation. */
  readonly system: unknown;
  readonly tools: readonly OfferedTool[];
  readonly said: readonly Said[];
}

export interface Call {
  readonly id: string;
  readonly tool: OfferedTool;
  readonly arguments: Record<string, unknown>;
  readonly command: string;
}

/** One reply. Each method gives bytes of the stream, in this order: begin; call, or textBegins, text…, textEnds; end. */
export interface Voice {
  begin(): string;
  call(call: Call): string;
  textBegins(): string;
  text(delta: string): string;
  textEnds(): string;
  end(): string;
  /** The same reply for who does not want a stream, once all was said. */
  whole(): unknown;
}

export interface Dialect {
  readonly format: ProviderFormat;
  /** Of the path that is asked. */
  readonly path: RegExp;
  read(body: Record<string, unknown>): Asked;
  speak(reply: { id: string; model: string; inputTokens: number }): Voice;
}

/** A server-sent event. */
export function event(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text of a content that is a string, or a list of parts with texts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => (typeof part === 'string' ? part : record(part)['text']))
    .filter((text) => typeof text === 'string')
    .join('\n');
}

export function isSystem(role: unknown): boolean {
  return role === 'system' || role === 'developer';
}
