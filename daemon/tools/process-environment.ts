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
    if (value === undefined || secret.has(name.toUpperCase()) || isKey(name, value)) continue;
    if (isOurs(name) || isLoader(name)) continue;
    kept[name] = value;
  }
  return kept;
}

/**
 * For commands at which nobody sits: no program asks for a password or a name, opens an editor or a pager, or draws on a screen; each fails at once
 * or takes what it is given. What asks on /dev/tty finds none, as the command has no terminal of its own. CI is not set: it makes some
 * tools stricter than the person asked for.
 */
export function unattended(environment: Readonly<Record<string, string>>, terminal: boolean): Record<string, string> {
  const kept = Object.entries(environment).filter(([name]) => !askers.has(name));
  return { ...Object.fromEntries(kept), ...nobodyThere, TERM: terminal ? 'xterm-256color' : 'dumb' };
}

/** Programs that would put a window on the person's screen to ask for a password. */
const askers = new Set(['SSH_ASKPASS', 'SUDO_ASKPASS']);

const nobodyThere = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  AWS_PAGER: '',
  GIT_TERMINAL_PROMPT: '0',
  // Empty: git asks no helper with a window either, whatever its settings say.
  GIT_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  // A message that is there is taken as it is; one that is missing is an error, and never a window that waits.
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  EDITOR: 'true',
  VISUAL: 'true',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
};

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

/** A second key of a vendor (`OPENAI_API_KEY_WORK`), or one under a name of the person's own, known by how its vendor writes them. */
function isKey(name: string, value: string): boolean {
  return vendorKey.test(name) || keyShape.test(value.trim());
}

const vendorKey =
  /^(OPENAI|ANTHROPIC|CLAUDE|GEMINI|MISTRAL|GROQ|XAI|DEEPSEEK|OPENROUTER|TOGETHER(AI)?|FIREWORKS|PERPLEXITY|COHERE|CEREBRAS|MOONSHOT|KIMI|ZAI|DASHSCOPE|MINIMAX)_(\w+_)?(API_?KEYS?|KEY|AUTH_TOKEN|ACCESS_TOKEN|OAUTH_TOKEN|SECRET)(_\w+)?$/i;
const keyShape = /^(sk-(ant|proj|or|svcacct|admin)-|sk-[A-Za-z0-9]{32,}$|gsk_|xai-|pplx-|csk-|fw_[A-Za-z0-9]{16})/;

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
  'PERL5DB',
  'PYTHONINSPECT',
  'PYTHONBREAKPOINT',
  'DOTNET_STARTUP_HOOKS',
  'VSCODE_INSPECTOR_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'JAVA_TOOL_OPTIONS',
  '_JAVA_OPTIONS',
  // Set where we were started from inside a git hook: commands would act on that repository, not on the project's.
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_PREFIX',
  'GIT_CONFIG_PARAMETERS',
  'GIT_CONFIG_COUNT',
  'GIT_EXTERNAL_DIFF',
  'GIT_EXEC_PATH',
]);
