/**
 * The models that providers themselves listed when a key was tried, in `listed-models.json` in the home: newer than any catalogue. Kept with the
 * address that listed them. Can be deleted; the next try brings them back.
 */
import { join } from 'node:path';
import { z } from '#protocol/schema.ts';
import type { Clock } from '../../base/clock.ts';
import { Store } from '../../base/store.ts';
import { listOf, recordOf, textOf } from '../formats/wire-json.ts';

const listedModel = z.object({
  id: z.string(),
  label: z.nullable(z.string()),
  /** A day, `2025-08-07`. */
  releasedAt: z.nullable(z.string()),
  contextWindow: z.nullable(z.int()),
  /** Whether it calls tools, where the provider says. */
  tools: z.nullable(z.boolean()),
});
export type ListedModel = z.infer<typeof listedModel>;

const document = z.object({
  providers: z.record(z.string(), z.object({ origin: z.string(), at: z.number(), models: z.array(listedModel) })),
});
type Document = z.infer<typeof document>;

/** More than any provider has; what lists more is no list of models. */
const maxListed = 2000;

export class ListedModels {
  readonly #store: Store<Document>;
  readonly #clock: Clock;

  private constructor(store: Store<Document>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  static async open(home: string, clock: Clock): Promise<ListedModels> {
    const path = join(home, 'listed-models.json');
    const { store } = await Store.open<Document>(path, document, { providers: {} }, clock);
    return new ListedModels(store, clock);
  }

  /** Null where the provider at this address never listed any. */
  of(provider: string, origin: string): readonly ListedModel[] | null {
    const { providers } = this.#store.value;
    const kept = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
    return kept?.origin === origin ? kept.models : null;
  }

  async keep(provider: string, origin: string, models: readonly ListedModel[]): Promise<void> {
    const kept = { origin, at: this.#clock.now(), models: [...models] };
    await this.#store.update(({ providers }) => ({ providers: { ...providers, [provider]: kept } }));
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

/** Reads a provider's list: `{data: […]}` as OpenAI and most others answer, or the bare list. Null where it is no list of models. */
export function readList(value: unknown): ListedModel[] | null {
  const rows = Array.isArray(value) ? listOf(value) : recordOf(value)['data'];
  if (!Array.isArray(rows)) return null;
  const models = new Map<string, ListedModel>();
  for (const row of rows.slice(0, maxListed)) {
    const one = recordOf(row);
    // Gemini puts the kind before the id, and takes ids without it.
    const id = textOf(one['id']).replace(/^models\//, '');
    if (id === '' || /\s/.test(id) || id.length > 200) continue;
    models.set(id, {
      id,
      label: textOf(one['display_name']) || textOf(one['name']) || null,
      releasedAt: dayOf(one['created_at'] ?? one['created']),
      contextWindow: windowOf(one),
      tools: toolsOf(one),
    });
  }
  return rows.length > 0 && models.size === 0 ? null : [...models.values()];
}

/** Seconds since 1970, or a date in words. */
function dayOf(value: unknown): string | null {
  const time = typeof value === 'number' ? value * 1000 : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  // Some list every model as made in 1970, or just now.
  if (!Number.isFinite(time) || time < Date.UTC(2020, 0) || time > Date.UTC(2100, 0)) return null;
  return new Date(time).toISOString().slice(0, 10);
}

function windowOf(one: Record<string, unknown>): number | null {
  for (const field of ['context_window', 'context_length', 'max_context_length', 'max_model_len', 'max_input_tokens']) {
    const value = one[field];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  }
  return null;
}

function toolsOf(one: Record<string, unknown>): boolean | null {
  const calling = recordOf(one['capabilities'])['function_calling'];
  if (typeof calling === 'boolean') return calling;
  const parameters = one['supported_parameters'];
  return Array.isArray(parameters) ? parameters.includes('tools') : null;
}
