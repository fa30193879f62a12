/**
 * Which provider and model a name means (PR9). Pure. In this order:
 *   1  `provider/model` of a provider that there is
 *   2  an alias of the settings, which may stand for another
 *   3  `@cf/…`, `copilot/`, `chatgpt/`, `groq/`, `together/`: theirs, whether they are set up or not
 *   4  any other name with a slash: OpenRouter's, as a whole
 *   5  a name with a colon: a model of Ollama on this machine
 *   6  the vendor that is known by how the name begins
 *   7  the rest: OpenRouter
 */
export interface Route {
  readonly provider: string;
  /** The model's own id. */
  readonly model: string;
}

export interface Routes {
  /** Whether a provider of this name is set up or known. */
  has(provider: string): boolean;
  readonly aliases: ReadonlyMap<string, string>;
}

export function routeOf(name: string, routes: Routes): Route {
  const seen = new Set<string>();
  for (let wanted = name; ;) {
    const explicit = split(wanted);
    if (explicit !== null && routes.has(explicit.provider)) return explicit;
    const alias = routes.aliases.get(wanted);
    // Two that stand for each other stand for nothing.
    if (alias === undefined || seen.has(wanted)) return byShape(wanted, explicit);
    seen.add(wanted);
    wanted = alias;
  }
}

function byShape(name: string, explicit: Route | null): Route {
  if (name.startsWith('@cf/')) return { provider: 'cloudflare', model: name };
  if (explicit !== null && reserved.has(explicit.provider)) return explicit;
  if (explicit !== null) return { provider: 'openrouter', model: name };
  if (name.includes(':')) return { provider: 'ollama', model: name };
  const known = beginnings.find(([pattern]) => pattern.test(name));
  return { provider: known?.[1] ?? 'openrouter', model: name };
}

function split(name: string): Route | null {
  const slash = name.indexOf('/');
  if (slash < 1 || slash === name.length - 1) return null;
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

const reserved: ReadonlySet<string> = new Set(['copilot', 'chatgpt', 'groq', 'together']);

const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-(?!oss)|chatgpt-|codex-|o\d)/i, 'openai'],
  [/^claude/i, 'anthropic'],
  [/^(gemini|gemma)/i, 'google'],
  [/^(open-)?(mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)/i, 'mistral'],
  [/^grok/i, 'xai'],
  [/^deepseek/i, 'deepseek'],
  [/^(qwen|qwq)/i, 'alibaba'],
  [/^(kimi|moonshot)/i, 'moonshot'],
  [/^glm-/i, 'zai'],
];
