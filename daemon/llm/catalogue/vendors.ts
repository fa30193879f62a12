/**
 * The vendors that are known: where each is spoken to and how, where its keys come from, and what tells whether a key works. A vendor is a
 * row of data; a row of the settings with the same name wins over it.
 */
import type { ProviderSettings } from '../providers/provider-settings.ts';

export interface Vendor {
  readonly name: string;
  readonly label: string;
  readonly format: ProviderSettings['format'];
  readonly baseUrl: string;
  /** Environment variables that people keep its key in; the first is the vendor's own word for it. */
  readonly keyVariables: readonly string[];
  /** Where keys are made. */
  readonly keysPage: string | null;
  /** Asked, behind baseUrl, to try a key: must refuse a wrong one and cost nothing. */
  readonly tryPath: string;
  /** Lists the models, behind baseUrl, where tryPath does not. */
  readonly listPath?: string;
  /** Its name in the catalogue. */
  readonly catalogue: string;
  /** A login of another program that it is asked with, instead of a key. */
  readonly login?: 'codex';
  /** What it offers, where it has no list of its own. */
  readonly models?: readonly string[];
  /** Of a vendor that hands on the models of many: whose newest one is offered before anybody searches. */
  readonly makers?: readonly string[];
}

export const vendors: readonly Vendor[] = [
  {
    name: 'anthropic',
    label: 'Anthropic',
    format: 'anthropic-messages',
    baseUrl: 'https://api.anthropic.com',
    keyVariables: ['ANTHROPIC_API_KEY'],
    keysPage: 'https://console.anthropic.com/settings/keys',
    tryPath: '/v1/models?limit=1000',
    catalogue: 'anthropic',
  },
  {
    name: 'openai',
    label: 'OpenAI',
    format: 'openai-responses',
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    keysPage: 'https://platform.openai.com/api-keys',
    tryPath: '/models',
    catalogue: 'openai',
  },
  {
    name: 'google',
    label: 'Google Gemini',
    format: 'openai-chat',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    keysPage: 'https://aistudio.google.com/apikey',
    tryPath: '/models',
    catalogue: 'google',
  },
  {
    name: 'openrouter',
    label: 'OpenRouter',
    format: 'openai-chat',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariables: ['OPENROUTER_API_KEY'],
    keysPage: 'https://openrouter.ai/settings/keys',
    // Its list of models wants no key, so it would accept any.
    tryPath: '/key',
    listPath: '/models',
    catalogue: 'openrouter',
    makers: ['anthropic', 'openai', 'google', 'deepseek', 'qwen', 'moonshotai', 'z-ai', 'x-ai'],
  },
  {
    name: 'mistral',
    label: 'Mistral',
    format: 'openai-chat',
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariables: ['MISTRAL_API_KEY'],
    keysPage: 'https://console.mistral.ai/api-keys',
    tryPath: '/models',
    catalogue: 'mistral',
  },
  {
    name: 'deepseek',
    label: 'DeepSeek',
    format: 'openai-chat',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariables: ['DEEPSEEK_API_KEY'],
    keysPage: 'https://platform.deepseek.com/api_keys',
    tryPath: '/models',
    catalogue: 'deepseek',
  },
  {
    name: 'groq',
    label: 'Groq',
    format: 'openai-chat',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariables: ['GROQ_API_KEY'],
    keysPage: 'https://console.groq.com/keys',
    tryPath: '/models',
    catalogue: 'groq',
  },
  {
    name: 'xai',
    label: 'xAI',
    format: 'openai-chat',
    baseUrl: 'https://api.x.ai/v1',
    keyVariables: ['XAI_API_KEY'],
    keysPage: 'https://console.x.ai',
    tryPath: '/models',
    catalogue: 'xai',
  },
  {
    name: 'together',
    label: 'Together AI',
    format: 'openai-chat',
    baseUrl: 'https://api.together.xyz/v1',
    keyVariables: ['TOGETHER_API_KEY'],
    keysPage: 'https://api.together.ai/settings/api-keys',
    tryPath: '/models',
    catalogue: 'togetherai',
  },
  {
    name: 'cerebras',
    label: 'Cerebras',
    format: 'openai-chat',
    baseUrl: 'https://api.cerebras.ai/v1',
    keyVariables: ['CEREBRAS_API_KEY'],
    keysPage: 'https://cloud.cerebras.ai/platform',
    tryPath: '/models',
    catalogue: 'cerebras',
  },
  {
    name: 'moonshot',
    label: 'Moonshot AI',
    format: 'openai-chat',
    baseUrl: 'https://api.moonshot.ai/v1',
    keyVariables: ['MOONSHOT_API_KEY'],
    keysPage: 'https://platform.moonshot.ai/console/api-keys',
    tryPath: '/models',
    catalogue: 'moonshotai',
  },
  {
    name: 'zai',
    label: 'Z.ai',
    format: 'openai-chat',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keyVariables: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
    keysPage: 'https://z.ai/manage-apikey/apikey-list',
    tryPath: '/models',
    catalogue: 'zai',
  },
  {
    name: 'alibaba',
    label: 'Alibaba (Qwen)',
    format: 'openai-chat',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keyVariables: ['DASHSCOPE_API_KEY'],
    keysPage: 'https://modelstudio.console.alibabacloud.com/?tab=playground#/api-key',
    tryPath: '/models',
    catalogue: 'alibaba',
  },
  {
    name: 'chatgpt',
    label: 'ChatGPT (Codex login)',
    format: 'openai-responses',
    baseUrl: 'https://chatgpt.com/backend-api/codex',
    keyVariables: [],
    keysPage: null,
    tryPath: '/models',
    catalogue: 'openai',
    login: 'codex',
    models: ['gpt-5.1-codex', 'gpt-5.1', 'gpt-5-codex', 'gpt-5'],
  },
];
