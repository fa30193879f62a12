/** Words for models: what they cost, how much they hold, how hard they think. Unknown is written "unknown", never zero. */
import type { ModelChoice, ModelPrice } from '#protocol/commands/model.ts';
import { effort as effortSchema, type Effort } from '#protocol/values/model.ts';
import { amount } from './time.ts';

/** The built-in one, which needs neither key nor network. */
export const offlineModel = 'offline/demo';

export const effortLabels: Record<Effort, string> = {
  off: 'no thinking',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'extra high',
};

const allEfforts = effortSchema.options;

/** The efforts that can be chosen with a model, weakest first; all of them where nobody knows. */
export function effortsOf(choice: ModelChoice | undefined): readonly Effort[] {
  return choice?.efforts ?? allEfforts;
}

/** The same effort where the model takes it, else the strongest below it, else null: the model's own. */
export function fitEffort(effort: Effort | null, choice: ModelChoice | undefined): Effort | null {
  if (effort === null) return null;
  const below = allEfforts.slice(0, allEfforts.indexOf(effort) + 1);
  return effortsOf(choice).findLast((one) => below.includes(one)) ?? null;
}

/** "GPT-5 · high": what the composer shows. A model that is in no list is called by its name. */
export function modelWords(choice: ModelChoice | undefined, name: string | null, effort: Effort | null): string {
  const label = choice?.label ?? name ?? 'No model';
  // One that the model does not take is not used.
  return effort === null || !effortsOf(choice).includes(effort) ? label : `${label} · ${effortLabels[effort]}`;
}

/** "200k window", "$3 in, $15 out", "sees pictures". */
export function modelFacts(choice: ModelChoice): string[] {
  return [
    choice.contextWindow === null ? 'window unknown' : `${amount(choice.contextWindow)} window`,
    priceWords(choice.price),
    ...(choice.pictures === true ? ['sees pictures'] : []),
  ];
}

/** For a million tokens. */
function priceWords(price: ModelPrice | null): string {
  if (price === null || (price.input === null && price.output === null)) return 'price unknown';
  if (price.input === 0 && price.output === 0) return 'free';
  const say = (value: number | null) => (value === null ? 'unknown' : `$${trimmed(value)}`);
  return `${say(price.input)} in, ${say(price.output)} out`;
}

function trimmed(value: number): string {
  return value >= 1 ? String(Number(value.toFixed(2))) : String(Number(value.toFixed(3)));
}
