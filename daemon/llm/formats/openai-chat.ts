/**
 * The adapter for OpenAI Chat Completions, the format most vendors and local servers speak, on the official SDK (loaded when first used).
 * Requests are made in openai-chat-request.ts, chunks are read in openai-chat-reply.ts; wire-client.ts keeps the contract.
 */
import type OpenAI from 'openai';
import type { ModelClient } from '../model-stream.ts';
import { readChatReply } from './openai-chat-reply.ts';
import { chatBody } from './openai-chat-request.ts';
import { loadOpenAi } from './openai-sdk.ts';
import { wireClient, type WireFormat, type WireOptions } from './wire-client.ts';

export function openAiChat(options: WireOptions): ModelClient {
  return wireClient(chatFormat, options);
}

export const chatFormat: WireFormat = {
  headers: (key) => (key === null ? {} : { authorization: `Bearer ${key}` }),
  reader: readChatReply,
  async load() {
    const sdk = await loadOpenAi();
    return async (request, connection) =>
      await sdk(connection).chat.completions.create(
        chatBody(request, connection.options.provider) as OpenAI.Chat.ChatCompletionCreateParamsStreaming,
      );
  },
};
