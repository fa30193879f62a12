/**
 * The adapter for Anthropic Messages, on the official SDK (loaded when first used). Requests are made in anthropic-messages-request.ts, events
 * are read in anthropic-messages-reply.ts; wire-client.ts keeps the contract.
 */
import { readMessagesReply } from './anthropic-messages-reply.ts';
import { messagesBody } from './anthropic-messages-request.ts';
import type { ModelClient } from '../model-stream.ts';
import { wireClient, type WireFormat, type WireOptions } from './wire-client.ts';

export function anthropicMessages(options: WireOptions): ModelClient {
  // The SDK adds the /v1 itself; an address that ends in it means the same.
  return wireClient(messagesFormat, { ...options, baseUrl: options.baseUrl.replace(/\/v1$/, '') });
}

export const messagesFormat: WireFormat = {
  headers: (key) => ({ 'anthropic-version': '2023-06-01', ...(key !== null && { 'x-api-key': key }) }),
  reader: readMessagesReply,
  async load() {
    const { default: Sdk } = await import('@anthropic-ai/sdk');
    return async (request, { options, timeoutMs, fetch }) => {
      const sdk = new Sdk({
        baseURL: options.baseUrl,
        // A key of any kind keeps it from looking for one in the environment and in profiles.
        apiKey: options.key ?? 'none',
        webhookKey: null,
        maxRetries: 0,
        logLevel: 'off',
        timeout: timeoutMs,
        fetch,
      });
      const body = messagesBody(
        request,
        options.provider,
        options.maxOutputTokens?.(request.model) ?? null,
        options.promptCache?.(),
      );
      // By the path and not by messages.create, which writes to stderr about models that it thinks are old.
      return await sdk.post<AsyncIterable<unknown>>('/v1/messages', { body, stream: true });
    };
  },
};
