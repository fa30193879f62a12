/**
 * The adapter for OpenAI Responses, on the official SDK (loaded when first used). Requests are made in openai-responses-request.ts, events are
 * read in openai-responses-reply.ts; wire-client.ts keeps the contract.
 */
import type OpenAI from 'openai';
import type { ModelClient } from '../model-stream.ts';
import { readResponsesReply } from './openai-responses-reply.ts';
import { responsesBody } from './openai-responses-request.ts';
import { loadOpenAi } from './openai-sdk.ts';
import { wireClient, type WireFormat, type WireOptions } from './wire-client.ts';

export function openAiResponses(options: WireOptions): ModelClient {
  return wireClient(responsesFormat, options);
}

/** At the address of the Codex login: it says who asks as the CLI does, and refuses a limit of output. */
export function codexResponses(options: WireOptions): ModelClient {
  const format: WireFormat = {
    ...responsesFormat,
    headers: (key) => ({
      ...responsesFormat.headers(key),
      'openai-beta': 'responses=experimental',
      originator: 'codex_cli_rs',
    }),
  };
  return wireClient(format, { ...options, maxOutputTokens: () => null });
}

export const responsesFormat: WireFormat = {
  headers: (key) => (key === null ? {} : { authorization: `Bearer ${key}` }),
  reader: readResponsesReply,
  async load() {
    const sdk = await loadOpenAi();
    return async (request, connection) => {
      const { provider, maxOutputTokens } = connection.options;
      const body = responsesBody(request, provider, maxOutputTokens?.(request.model) ?? null);
      return await sdk(connection).responses.create(body as OpenAI.Responses.ResponseCreateParamsStreaming);
    };
  },
};
