/**
 * Which efforts a model takes, weakest first: [] for one that takes none, null where nobody knows, so any may be tried. The settings' word is
 * the first; then what the vendor documents for its families; then whether the catalogue says that it reasons at all. Pure.
 */
import type { Effort } from '#protocol/values/model.ts';
import { claudeVersion } from './claude-version.ts';
import type { ProviderSettings } from '../providers/provider-settings.ts';

export interface EffortFacts {
  readonly format: ProviderSettings['format'];
  /** The known vendor at this address, by name. */
  readonly vendor: string | null;
  /** The model's own id. */
  readonly model: string;
  /** As the settings say. */
  readonly named: readonly Effort[] | null;
  /** As the catalogue says. */
  readonly reasoning: boolean | null;
}

const order: readonly Effort[] = ['off', 'low', 'medium', 'high', 'xhigh'];

export function effortsOf({ format, vendor, model, named, reasoning }: EffortFacts): readonly Effort[] | null {
  if (named !== null) return order.filter((one) => named.includes(one));
  // A router hands the same models on under `maker/model`.
  const id = model.toLowerCase().replace(/^.*\//, '');
  if (format === 'anthropic-messages') {
    const version = claudeVersion(id);
    if (version !== null) return ofClaude(version);
    return reasoning === false ? [] : null;
  }
  if (format === 'openai-responses' || vendor === 'openai') {
    const known = ofOpenAi(id);
    if (known !== null) return known;
  }
  if (reasoning === false) return [];
  switch (vendor ?? '') {
    case 'openrouter':
      // It translates efforts to whatever the maker understands.
      return reasoning === true ? order : null;
    case 'google':
      return ofGemini(id);
    case 'xai':
      return ofGrok(id);
    case 'groq':
    case 'cerebras':
    case 'together':
      if (id.startsWith('gpt-oss')) return ['low', 'medium', 'high'];
      return reasoning === true ? [] : null;
    case 'deepseek':
    case 'mistral':
    case 'moonshot':
    case 'zai':
      // Those that the catalogue knows reason by themselves or not at all; their addresses have no such field, some refuse it.
      return reasoning === true ? [] : null;
    default:
      return null;
  }
}

/** The effort that is sent: the one that is wanted where the model takes it, else the nearest it takes, of two the weaker. */
export function nearestEffort(wanted: Effort | null, takes: readonly Effort[] | null): Effort | null {
  if (wanted === null || takes === null || takes.includes(wanted)) return wanted;
  const place = order.indexOf(wanted);
  const distance = (one: Effort) => Math.abs(order.indexOf(one) - place);
  let best: Effort | null = null;
  for (const one of order) {
    if (takes.includes(one) && (best === null || distance(one) < distance(best))) best = one;
  }
  return best;
}

/** "low, medium or high", for sentences. */
export function effortWords(takes: readonly Effort[]): string {
  if (takes.length < 2) return takes.join('');
  return `${takes.slice(0, -1).join(', ')} or ${takes.at(-1)}`;
}

function ofClaude(version: number): readonly Effort[] | null {
  if (version < 3.07) return [];
  if (version === Infinity) return null;
  return version < 4.07 ? ['off', 'low', 'medium', 'high'] : order;
}

function ofOpenAi(id: string): readonly Effort[] | null {
  if (/^(gpt-3|gpt-4|chatgpt-|o1-mini|o1-preview)/.test(id) || /^gpt-5[^/]*-chat/.test(id)) return [];
  if (/^(o\d|codex-mini|gpt-oss)/.test(id)) return ['low', 'medium', 'high'];
  const five = /^gpt-5(?:\.(\d+))?(-|$)/.exec(id);
  if (five === null) return null;
  const minor = Number(five[1] ?? 0);
  if (/-pro\b/.test(id)) return minor === 0 ? ['high'] : ['medium', 'high', 'xhigh'];
  if (/codex-max/.test(id) || (/codex/.test(id) && minor >= 2)) return ['low', 'medium', 'high', 'xhigh'];
  if (minor === 0 || /codex/.test(id)) return ['low', 'medium', 'high'];
  return minor === 1 ? ['off', 'low', 'medium', 'high'] : order;
}

function ofGemini(id: string): readonly Effort[] | null {
  if (/^gemini-2\.5-pro/.test(id)) return ['low', 'medium', 'high'];
  if (/^gemini-2\.5/.test(id)) return ['off', 'low', 'medium', 'high'];
  if (/^gemini-3/.test(id)) return ['low', 'medium', 'high'];
  return /^(gemini-[12]\.|gemma)/.test(id) ? [] : null;
}

function ofGrok(id: string): readonly Effort[] | null {
  if (/^grok-3-mini/.test(id)) return ['low', 'high'];
  // They reason, but refuse to be told how much.
  return /^(grok-[234]|grok-code)/.test(id) ? [] : null;
}
