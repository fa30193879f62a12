/**
 * What a provider's refusal means: its HTTP status and its own words become a Failure, a verdict whether a repeat may help, and how long to
 * wait. Shared by every wire format, since vendors differ more from each other than formats do. Decides on status and codes first; words
 * decide only where vendors have no code in common (a full context).
 */
import type { Failure, FailureCode } from '#protocol/values/outcome.ts';
import type { Clock } from '../../base/clock.ts';
import { recordOf } from './wire-json.ts';

export interface Refusal {
  /** Null where the error came in the middle of a stream. */
  status: number | null;
  /** The error as the provider sent it: any JSON, or text. */
  error: unknown;
  header(name: string): string | null;
}

export interface Verdict {
  failure: Failure;
  /** Whether the same request may succeed later. The adapter says no all the same once output was shown. */
  retryable: boolean;
  retryAfterMs: number | null;
}

/** The provider as messages name it, and the secrets that must not stand in them. */
export interface Provider {
  name: string;
  /** The environment variable that the key came from, to tell a person what to look at; null where it was given to Alcove, or there is none. */
  keyName: string | null;
  key: string | null;
}

export function judge(refusal: Refusal, provider: Provider, clock: Clock): Verdict {
  const words = wordsOf(refusal.error);
  const status = refusal.status ?? statusOf(words.code);
  const code = codeOf(status, words);
  const said = words.message === '' ? '' : ` It said: ${quote(words.message)}`;
  const found = status === null ? 'sent an error' : `answered ${status}`;
  const message = redact(`${provider.name} ${found}.${said} ${advice(code, provider, words)}`, provider);
  const whole = typeof refusal.error === 'string' ? refusal.error : JSON.stringify(refusal.error ?? null);
  return {
    failure: { code, message, detail: redact(whole.slice(0, maxDetail), provider) },
    retryable: code === 'rate_limited' || code === 'provider_failed' || code === 'provider_unreachable',
    retryAfterMs: retryAfter(refusal, clock),
  };
}

/** Takes the key, and whatever else is written like a bearer token, out of a text that people and logs will see. */
export function redact(text: string, provider: Provider): string {
  let clean = text.replace(/\bBearer\s+[^\s"',;]+/gi, 'Bearer [key]');
  if (provider.key !== null && provider.key.length >= 4) {
    clean = clean.replaceAll(provider.key, '[key]').replaceAll(encodeURIComponent(provider.key), '[key]');
  }
  return clean;
}

/** The provider's own words, in quotes; empty where it had none. */
export function saidBy(error: unknown): string {
  const { message } = wordsOf(error);
  return message.trim() === '' ? '' : quote(message);
}

const maxDetail = 4000;
const maxQuote = 600;

interface Words {
  code: string;
  type: string;
  message: string;
}

/** Finds the words in the shapes seen: {error:{…}}, [{error:{…}}], {message,code}, {detail}, {error:"…"}, plain text. */
function wordsOf(error: unknown): Words {
  if (typeof error === 'string') return { code: '', type: '', message: plain(error) };
  const list = Array.isArray(error) ? error : [error];
  const outer = recordOf(list[0]);
  const inner = recordOf(outer['error']);
  const fields = Object.keys(inner).length > 0 ? inner : outer;
  const text = [fields['message'], outer['error'], outer['detail'], outer['message']].find(
    (one) => typeof one === 'string' && one !== '',
  );
  const metadata = recordOf(fields['metadata']);
  const raw = typeof metadata['raw'] === 'string' ? ` (${metadata['raw']})` : '';
  return {
    code: wordOf(fields['code']),
    type: wordOf(fields['type']),
    message: `${typeof text === 'string' ? text : ''}${raw}`,
  };
}

/** Some vendors put the HTTP status into the code of an error in mid-stream. */
function statusOf(code: string): number | null {
  return /^[45]\d\d$/.test(code) ? Number(code) : null;
}

function codeOf(status: number | null, words: Words): FailureCode {
  const named = `${words.code} ${words.type}`;
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 429) return spent.test(named) ? 'provider_refused' : 'rate_limited';
  if (status === 413) return 'context_full';
  if (contextFull.some((pattern) => pattern.test(`${named} ${words.message}`))) return 'context_full';
  if (/model_not_found|unknown_model|invalid_model/.test(named)) return 'model_unknown';
  if (status === 404) return 'model_unknown';
  if (status === null) return ofStream(named);
  if (status === 408 || status === 409 || status === 425 || status >= 500) return 'provider_failed';
  return 'provider_refused';
}

function ofStream(named: string): FailureCode {
  if (spent.test(named)) return 'provider_refused';
  if (/rate_limit|too_many_requests/.test(named)) return 'rate_limited';
  if (/authentication|invalid_api_key|permission/.test(named)) return 'unauthorized';
  if (/not_found_error/.test(named)) return 'model_unknown';
  if (/request_too_large/.test(named)) return 'context_full';
  if (/invalid_request|invalid_prompt/.test(named)) return 'provider_refused';
  return 'provider_failed';
}

/** The account is empty: waiting does not fill it. */
const spent = /insufficient_quota|billing|insufficient_balance|credit/;

/** How vendors say that a request is larger than the model's window. Each has words of its own, few have a code. */
const contextFull = [
  /context_length_exceeded|context_window_exceeded|exceed_context_size/, // OpenAI and those who copy it, llama.cpp
  /exceeds the context window/i, // OpenAI
  /maximum context length/i, // OpenAI, OpenRouter, vLLM, DeepSeek, Mistral
  /prompt is too long|exceed context limit/i, // Anthropic and routers to it
  /input token count.*exceeds/i, // Gemini
  /maximum prompt length/i, // xAI
  /reduce the length of the messages/i, // Groq
  /exceeds the available context size/i, // llama.cpp
  /greater than the context length/i, // LM Studio
  /context (window|length|size).*exceed|exceed.*context (window|length|size)/i, // MiniMax, Ollama, and more like them
  /exceeded model token limit/i, // Moonshot
];

function advice(code: FailureCode, provider: Provider, words: Words): string {
  switch (code) {
    case 'unauthorized':
      if (provider.keyName !== null)
        return `Look whether ${provider.keyName} holds a valid key that may use this model.`;
      return provider.key === null
        ? 'It wants a key: connect it with one (alcove login), or name a variable with keyEnv in its settings.'
        : 'Connect it again with a valid key that may use this model.';
    case 'model_unknown':
      return 'Choose another model, or look at baseUrl and models in the settings of this provider.';
    case 'context_full':
      return 'The conversation is larger than this model can read.';
    case 'rate_limited':
      return 'It can be tried again later.';
    case 'provider_refused':
      return spent.test(`${words.code} ${words.type}`)
        ? 'The account has no credit left.'
        : 'The same request would be refused again.';
    case 'provider_failed':
    case 'provider_unreachable':
      return 'The fault is on its side; it can be tried again.';
    case 'reply_cut':
    case 'reply_malformed':
    case 'timed_out':
    case 'step_limit':
    case 'token_limit':
    case 'storage_failed':
    case 'fault':
      return '';
  }
}

/** Milliseconds to wait as the provider asks: retry-after-ms, or Retry-After in seconds or as a date. */
function retryAfter(refusal: Refusal, clock: Clock): number | null {
  const exact = Number(refusal.header('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const value = refusal.header('retry-after')?.trim();
  if (value === undefined || value === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : null;
  const moment = Date.parse(value);
  if (Number.isNaN(moment)) return null;
  // The date is by the provider's clock; so is its Date header, which makes the difference true whatever our clock says.
  const sent = Date.parse(refusal.header('date') ?? '');
  return Math.max(0, moment - (Number.isNaN(sent) ? clock.now() : sent));
}

/** An HTML error page says more by its words than by its tags. */
function plain(text: string): string {
  if (!/^\s*</.test(text)) return text.trim();
  return text
    .replace(/<(style|script)[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > maxQuote ? `“${line.slice(0, maxQuote)}…”` : `“${line}”`;
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : typeof value === 'number' ? String(value) : '';
}
