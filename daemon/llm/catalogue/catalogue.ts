/**
 * What is known of the vendors' models: limits, prices, abilities. From the bundled catalogue, or from a newer one that a person fetched into
 * the home; nothing is fetched unless it is asked for. What is not known is null, never zero. Loaded when first needed, and again when the
 * file in the home has changed.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelPrice } from '#protocol/commands/model.ts';
import { z } from '#protocol/schema.ts';
import { writeFileAtomically } from '../../base/files.ts';
import { vendors } from './vendors.ts';
import { listOf, recordOf, textOf } from '../formats/wire-json.ts';

const amount = z.nullable(z.number().check(z.nonnegative()));
const tokens = z.nullable(z.int().check(z.positive()));
const catalogueModel = z.object({
  id: z.string(),
  label: z.string(),
  /** A day, `2025-08-07`. */
  releasedAt: z.nullable(z.string()),
  /** Whether it may call tools and says text: what an agent needs. */
  usable: z.boolean(),
  /** Old, or not yet meant for everybody: found by searching, not offered first. */
  unsettled: z.boolean(),
  reasoning: z.nullable(z.boolean()),
  pictures: z.nullable(z.boolean()),
  documents: z.optional(z.nullable(z.boolean())),
  contextWindow: tokens,
  maxOutput: tokens,
  price: z.nullable(z.object({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount })),
});
export type CatalogueModel = z.infer<typeof catalogueModel>;

const kept = z.object({
  fetchedAt: z.number(),
  from: z.string(),
  providers: z.record(z.string(), z.array(catalogueModel)),
});
type Kept = z.infer<typeof kept>;
type Models = ReadonlyMap<string, ReadonlyMap<string, CatalogueModel>>;

export const catalogueAddress = 'https://models.dev/api.json';

export class Catalogue {
  readonly #path: string;
  #models: Promise<Models> | null = null;
  #seen = '';

  constructor(home: string) {
    this.#path = catalogueFile(home);
  }

  /** What is known now. */
  async load(): Promise<CatalogueView> {
    const found = await stat(this.#path).catch(() => null);
    const seen = found === null ? 'missing' : `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (this.#models === null || seen !== this.#seen) {
      this.#seen = seen;
      this.#models = this.#read();
    }
    return new CatalogueView(await this.#models);
  }

  async #read(): Promise<Models> {
    const { bundledCatalogue } = await import('./bundled-catalogue.ts');
    const fetched = await readKept(this.#path);
    const providers = { ...modelsOf(bundledCatalogue), ...fetched?.providers };
    return new Map(
      Object.entries(providers).map(([name, models]) => [name, new Map(models.map((model) => [model.id, model]))]),
    );
  }
}

export class CatalogueView {
  readonly #models: Models;

  constructor(models: Models) {
    this.#models = models;
  }

  of(provider: string | null): readonly CatalogueModel[] {
    return provider === null ? [] : [...(this.#models.get(provider)?.values() ?? [])];
  }

  find(provider: string | null, id: string): CatalogueModel | null {
    return provider === null ? null : (this.#models.get(provider)?.get(id) ?? null);
  }
}

export const noCatalogue = new CatalogueView(new Map());

/** Reads a catalogue in the shape of models.dev and keeps it in the home, where it wins over the bundled one. Throws where it is none. */
export async function keepCatalogue(
  home: string,
  text: string,
  from: string,
  now: number,
): Promise<{ models: number }> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`What ${from} answered is not JSON. The catalogue before stays in force.`, { cause: error });
  }
  const providers = modelsOf(recordOf(value));
  const models = Object.values(providers).reduce((sum, list) => sum + list.length, 0);
  if (models === 0)
    throw new Error(`What ${from} answered is no catalogue of models. The catalogue before stays in force.`);
  const file: Kept = { fetchedAt: now, from, providers };
  await writeFileAtomically(catalogueFile(home), `${JSON.stringify(file)}\n`);
  return { models };
}

export function catalogueFile(home: string): string {
  return join(home, 'catalogue.json');
}

async function readKept(path: string): Promise<Kept | null> {
  try {
    const read = z.safeParse(kept, JSON.parse(await readFile(path, 'utf8')));
    // One that cannot be read is as good as none: the bundled one is there, and it can be fetched again.
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

/** The known vendors' models out of a catalogue; what does not fit is left out, model by model. */
function modelsOf(catalogue: Readonly<Record<string, unknown>>): Record<string, CatalogueModel[]> {
  const providers: Record<string, CatalogueModel[]> = {};
  for (const { catalogue: name } of vendors) {
    const models = Object.entries(recordOf(recordOf(catalogue[name])['models'])).flatMap(([id, one]) =>
      modelOf(id, recordOf(one)),
    );
    if (models.length > 0) providers[name] = models;
  }
  return providers;
}

function modelOf(id: string, one: Record<string, unknown>): CatalogueModel[] {
  if (id === '' || /\s/.test(id) || id.length > 200 || Object.keys(one).length === 0) return [];
  const modalities = recordOf(one['modalities']);
  const limit = recordOf(one['limit']);
  const status = textOf(one['status']);
  const input = 'input' in modalities ? listOf(modalities['input']) : null;
  const output = 'output' in modalities ? listOf(modalities['output']) : ['text'];
  return [
    {
      id,
      label: textOf(one['name']) || id,
      releasedAt: dayOf(one['release_date']),
      usable: one['tool_call'] === true && output.includes('text'),
      unsettled: status === 'deprecated' || status === 'alpha' || /preview|-exp\b|experimental|beta/i.test(id),
      reasoning: typeof one['reasoning'] === 'boolean' ? one['reasoning'] : null,
      pictures: input === null ? null : input.includes('image'),
      documents: input === null ? null : input.includes('pdf'),
      contextWindow: tokensOf(limit['context']),
      maxOutput: tokensOf(limit['output']),
      price: priceOf(one['cost']),
    },
  ];
}

function dayOf(value: unknown): string | null {
  const found = /^\d{4}-\d{2}(-\d{2})?/.exec(textOf(value));
  return found === null ? null : found[0];
}

function tokensOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}

function priceOf(value: unknown): ModelPrice | null {
  const cost = recordOf(value);
  const price = {
    input: dollarsOf(cost['input']),
    output: dollarsOf(cost['output']),
    cacheRead: dollarsOf(cost['cache_read']),
    cacheWrite: dollarsOf(cost['cache_write']),
  };
  return Object.values(price).every((one) => one === null) ? null : price;
}

function dollarsOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
