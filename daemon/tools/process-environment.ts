/**
 * The environment that commands and other child processes get: the person's own, without what would hand our keys to them (PM13) or let the
 * way we were started reach into them (PM14). What the person's tools need to work (PATH, HOME, tokens such as GITHUB_TOKEN) stays.
 */

/** `providerKeyNames`: names of environment variables from which settings take provider keys. */
export function scrubEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  providerKeyNames: readonly string[],
): Record<string, string> {
  const secret = new Set([...wellKnownKeyNames, ...providerKeyNames].map((name) => name.toUpperCase()));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || secret.has(name.toUpperCase()) || isOurs(name) || isLoader(name)) continue;
    kept[name] = value;
  }
  return kept;
}

/** Keys of model providers: an agent's command has no honest use for them, and a log or a page it writes could carry them away. */
const wellKnownKeyNames = [
  'OPENAI_API_KEY',
  'OPENAI_ADMIN_KEY',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_API_KEY',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'AZURE_OPENAI_API_KEY',
  'AZURE_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'MISTRAL_API_KEY',
  'CODESTRAL_API_KEY',
  'GROQ_API_KEY',
  'XAI_API_KEY',
  'DEEPSEEK_API_KEY',
  'OPENROUTER_API_KEY',
  'TOGETHER_API_KEY',
  'TOGETHERAI_API_KEY',
  'FIREWORKS_API_KEY',
  'PERPLEXITY_API_KEY',
  'COHERE_API_KEY',
  'CO_API_KEY',
  'CEREBRAS_API_KEY',
  'MOONSHOT_API_KEY',
  'KIMI_API_KEY',
  'ZAI_API_KEY',
  'ZHIPUAI_API_KEY',
  'DASHSCOPE_API_KEY',
  'MINIMAX_API_KEY',
  'HUGGINGFACE_API_KEY',
  'HUGGING_FACE_HUB_TOKEN',
  'REPLICATE_API_TOKEN',
  'NVIDIA_API_KEY',
  'AWS_BEARER_TOKEN_BEDROCK',
  'VOYAGE_API_KEY',
  'TAVILY_API_KEY',
  'EXA_API_KEY',
  'BRAVE_API_KEY',
];

/** Our own switches (home, dev daemon, marks): a nested Alcove must not take them for its own. */
function isOurs(name: string): boolean {
  return name.toUpperCase().startsWith('ALCOVE_');
}

/** Variables that make a program load or run code before its own. They were set for us, or by someone who got at us. */
function isLoader(name: string): boolean {
  return loaderNames.has(name) || loaderPrefixes.some((prefix) => name.startsWith(prefix));
}

const loaderPrefixes = ['LD_', 'DYLD_', 'BASH_FUNC_'];
const loaderNames = new Set([
  'NODE_OPTIONS',
  'NODE_CHANNEL_FD',
  'NODE_CHANNEL_SERIALIZATION_MODE',
  'NODE_REPL_EXTERNAL_MODULE',
  'BASH_ENV',
  'ENV',
  'PROMPT_COMMAND',
  'SHELLOPTS',
  'BASHOPTS',
  'PS4',
  'PYTHONSTARTUP',
  'PERL5OPT',
  'RUBYOPT',
  'JAVA_TOOL_OPTIONS',
  '_JAVA_OPTIONS',
  // Set where we were started from inside a git hook: commands would act on that repository, not on the project's.
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
]);
