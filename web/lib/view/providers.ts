/** Providers as a list shows them: in which order and groups, and where the key in force comes from. */
import type { ModelChoice } from '#protocol/commands/model.ts';
import type { Provider } from '#protocol/commands/provider.ts';

export interface ProviderGroup {
  readonly name: string;
  readonly providers: readonly Provider[];
}

/** What runs here first, then what is connected, then what the settings name, then the vendors that are known; empty groups are left out. */
export function providerGroups(providers: readonly Provider[]): readonly ProviderGroup[] {
  const groupOf = (one: Provider): string => {
    if (one.origin === 'found') return 'Found on this machine';
    if (one.connected) return 'Connected';
    return one.origin === 'settings' ? 'In the settings' : 'Known providers';
  };
  const names = ['Found on this machine', 'Connected', 'In the settings', 'Known providers'];
  return names
    .map((name) => ({ name, providers: providers.filter((one) => groupOf(one) === name) }))
    .filter((group) => group.providers.length > 0);
}

/** A sentence; empty where there is no key. */
export function keySource({ key }: Provider): string {
  if (!key.needed) return 'It needs no key.';
  switch (key.from) {
    case 'stored':
      return 'The key is stored here.';
    case 'environment':
      return `The key comes from ${key.variable ?? 'the environment'}.`;
    case null:
      return '';
  }
}

export interface ModelOffer {
  readonly model: string;
  readonly label: string;
  /** What was found, a sentence. */
  readonly found: string;
}

/** One model of each provider that is ready without doing anything: what runs here first, then keys that are there. */
export function modelOffers(providers: readonly Provider[], models: readonly ModelChoice[]): readonly ModelOffer[] {
  return [...providers]
    .filter((one) => one.connected)
    .sort((a, b) => Number(b.origin === 'found') - Number(a.origin === 'found'))
    .flatMap((one) => {
      const own = models.filter((choice) => choice.provider === one.name && choice.available);
      const best = own.find((choice) => choice.shortlisted) ?? own[0];
      return best === undefined ? [] : [{ model: best.name, label: best.label, found: foundWords(one) }];
    });
}

function foundWords(one: Provider): string {
  if (one.origin === 'found') return `${one.label} runs on this machine.`;
  if (one.key.from === 'environment') return `A key for ${one.label} is in ${one.key.variable ?? 'the environment'}.`;
  return `${one.label} is connected.`;
}
