/**
 * The official OpenAI SDK, loaded when first used, with everything off that it would do by itself: retries, reading the environment, logging.
 * Both OpenAI formats ask through it.
 */
import type OpenAI from 'openai';
import type { WireConnection } from './wire-client.ts';

export async function loadOpenAi(): Promise<(connection: WireConnection) => OpenAI> {
  const { default: Sdk } = await import('openai');
  return ({ options, timeoutMs, fetch }) =>
    new Sdk({
      baseURL: options.baseUrl,
      apiKey: options.key ?? 'none',
      organization: null,
      project: null,
      adminAPIKey: null,
      webhookSecret: null,
      maxRetries: 0,
      logLevel: 'off',
      timeout: timeoutMs,
      fetch,
    });
}
