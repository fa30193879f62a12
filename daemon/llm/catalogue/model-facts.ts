/**
 * All that is known of one model of one provider, put together: the settings' word first, then the catalogue's, then what the provider itself
 * listed. What nobody knows is null. Pure.
 */
import type { ModelPrice } from '#protocol/commands/model.ts';
import type { Effort } from '#protocol/values/model.ts';
import type { CatalogueModel, CatalogueView } from './catalogue.ts';
import { effortsOf } from './efforts.ts';
import type { ListedModel } from './listed-models.ts';
import type { ProviderRow } from '../providers/provider-rows.ts';
import type { ModelEntry } from '../providers/provider-settings.ts';

export interface ModelFacts {
  readonly id: string;
  readonly label: string;
  readonly contextWindow: number | null;
  readonly maxOutput: number | null;
  readonly price: ModelPrice | null;
  readonly efforts: readonly Effort[] | null;
  readonly pictures: boolean | null;
  readonly documents: boolean | null;
}

export interface OfferedModel extends ModelFacts {
  /** Offered before anybody searches. */
  readonly shortlisted: boolean;
}

/** How many of one provider are offered before anybody searches: what fits a phone. */
const shortlistLength = 5;

export function factsOf(
  row: ProviderRow,
  id: string,
  catalogue: CatalogueView,
  listed: readonly ListedModel[] | null,
): ModelFacts {
  return put(
    row,
    id,
    row.models.find((one) => one.id === id) ?? null,
    catalogue.find(row.catalogue, id),
    listed?.find((one) => one.id === id) ?? null,
  );
}

/** What a picker offers of a provider: what is named in the settings or found on a server, then what can call tools, the newest first. */
export function offered(
  row: ProviderRow,
  catalogue: CatalogueView,
  listed: readonly ListedModel[] | null,
): OfferedModel[] {
  const named = row.models.map(({ id }) => ({ ...factsOf(row, id, catalogue, listed), shortlisted: true }));
  // A gateway of a vendor's name offers what its row names, and so does a login.
  const known = row.vendor === null || row.login !== null ? [] : catalogue.of(row.catalogue);
  const candidates = candidatesOf(known, listed ?? []).filter(({ id }) => row.models.every((one) => one.id !== id));
  const first = named.length > 0 && row.origin === 'settings' ? new Set<string>() : shortlist(row, candidates, listed);
  const rest = candidates.map(({ id, model, own }) => ({
    ...put(row, id, null, model, own),
    shortlisted: first.has(id),
  }));
  const places = [...first];
  const place = ({ id, shortlisted }: OfferedModel) => (shortlisted ? places.indexOf(id) : places.length);
  return [...named, ...rest.toSorted((a, b) => place(a) - place(b))];
}

interface Candidate {
  id: string;
  model: CatalogueModel | null;
  own: ListedModel | null;
  releasedAt: string;
}

function candidatesOf(known: readonly CatalogueModel[], listed: readonly ListedModel[]): Candidate[] {
  const own = new Map(listed.map((one) => [one.id, one]));
  const all = new Map<string, Candidate>();
  for (const model of known) {
    const mine = own.get(model.id) ?? null;
    if (model.usable) all.set(model.id, { id: model.id, model, own: mine, releasedAt: model.releasedAt ?? '' });
  }
  const refused = new Set(known.filter(({ usable }) => !usable).map(({ id }) => id));
  for (const one of listed) {
    if (all.has(one.id) || refused.has(one.id) || one.tools === false || otherTrade.test(one.id)) continue;
    all.set(one.id, { id: one.id, model: null, own: one, releasedAt: one.releasedAt ?? '' });
  }
  // Of one day the dearest is the vendor's best.
  return [...all.values()].sort(
    (a, b) =>
      b.releasedAt.localeCompare(a.releasedAt) ||
      (b.model?.price?.output ?? 0) - (a.model?.price?.output ?? 0) ||
      a.id.localeCompare(b.id),
  );
}

/** Lists of providers hold much that is no model to talk to, and do not say which. */
const otherTrade =
  /embed|whisper|tts|dall-e|moderation|image|audio|realtime|transcri|sora|rerank|guard|ocr|veo|imagen|lyria|aqa|davinci|babbage|search|speech|voice|safety|flux|diffusion|video|instruct-\d{4}$|translat|computer-use/i;

function shortlist(
  row: ProviderRow,
  candidates: readonly Candidate[],
  listed: readonly ListedModel[] | null,
): ReadonlySet<string> {
  const there = new Set(listed?.map(({ id }) => id));
  // Where the provider has said what it has, a catalogue that may be older than that offers nothing besides.
  const current = candidates.filter(({ id }) => listed === null || listed.length === 0 || there.has(id));
  const settled = current.filter(({ id, model }) => model?.unsettled !== true && !/preview|-exp\b|:free$/i.test(id));
  const makers = row.vendor?.makers;
  const pool =
    makers === undefined
      ? settled
      : makers.flatMap((maker) => settled.find(({ id }) => id.startsWith(`${maker}/`)) ?? []);
  const chosen = new Set<string>();
  const families = new Set<string>();
  for (const { id } of pool) {
    if (chosen.size >= (makers?.length ?? shortlistLength)) break;
    const family = id.replace(/[-@](latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{4})$/, '');
    if (families.has(family)) continue;
    families.add(family);
    chosen.add(id);
  }
  return chosen;
}

function put(
  row: ProviderRow,
  id: string,
  entry: ModelEntry | null,
  model: CatalogueModel | null,
  own: ListedModel | null,
): ModelFacts {
  return {
    id,
    label: model?.label ?? own?.label ?? id,
    contextWindow: entry?.contextWindow ?? model?.contextWindow ?? own?.contextWindow ?? null,
    maxOutput: entry?.maxOutputTokens ?? model?.maxOutput ?? null,
    price: priceOf(row, entry, model),
    efforts: effortsOf({
      format: row.format,
      vendor: row.vendor?.name ?? null,
      model: id,
      named: entry?.efforts ?? null,
      reasoning: model?.reasoning ?? null,
    }),
    pictures: model?.pictures ?? null,
    documents: documentsOf(row, model),
  };
}

/** What the model can read, as far as its address has a place for it: in the chat format only OpenAI's and OpenRouter's have. */
function documentsOf(row: ProviderRow, model: CatalogueModel | null): boolean | null {
  if (row.format === 'openai-chat' && row.vendor?.name !== 'openai' && row.vendor?.name !== 'openrouter') return false;
  return model?.documents ?? null;
}

/** The catalogue's prices are the vendor's: at another address they say nothing. */
function priceOf(row: ProviderRow, entry: ModelEntry | null, model: CatalogueModel | null): ModelPrice | null {
  const named = entry?.price;
  // What is asked with a login is paid by its subscription.
  if (named === undefined) return row.vendor === null || row.login !== null ? null : (model?.price ?? null);
  const { input, output, cacheRead, cacheWrite } = named;
  return { input, output, cacheRead: cacheRead ?? null, cacheWrite: cacheWrite ?? null };
}
