import { expect, it } from 'vitest';
import type { Provider } from '#protocol/commands/provider.ts';
import { models } from '../components/views/samples.ts';
import { keySource, modelOffers, providerGroups } from './providers.ts';

const provider = (name: string, more: Partial<Provider> = {}): Provider => ({
  name,
  label: name.toUpperCase(),
  baseUrl: '',
  origin: 'known',
  key: { needed: true, from: null, variable: `${name.toUpperCase()}_KEY`, page: null },
  connected: false,
  reason: null,
  models: 0,
  ...more,
});
const key = (from: Provider['key']['from'], needed = true) => ({ needed, from, variable: 'A_KEY', page: null });

it('groups what runs here before what is connected, and that before the others', () => {
  const all = [
    provider('known'),
    provider('set', { origin: 'settings' }),
    provider('ready', { connected: true }),
    provider('local', { origin: 'found', connected: true }),
  ];
  expect(providerGroups(all).map((group) => [group.name, group.providers.map((one) => one.name)])).toEqual([
    ['Found on this machine', ['local']],
    ['Connected', ['ready']],
    ['In the settings', ['set']],
    ['Known providers', ['known']],
  ]);
});

it('says where a key comes from', () => {
  const source = (given: Provider['key']) => keySource(provider('a', { key: given }));
  expect([source(key('stored')), source(key('environment')), source(key(null)), source(key(null, false))]).toEqual([
    'The key is stored here.',
    'The key comes from A_KEY.',
    '',
    'It needs no key.',
  ]);
});

it('UI27: offers one model of each provider that is ready, what runs here first', () => {
  const ready = [
    provider('openrouter', { connected: true, key: key('environment') }),
    provider('offline', { connected: true, origin: 'found' }),
    provider('openai'),
  ];
  expect(modelOffers(ready, models)).toEqual([
    { model: 'offline/demo', label: 'Scripted demo', found: 'OFFLINE runs on this machine.' },
    { model: 'openrouter/opus', label: 'Opus', found: 'A key for OPENROUTER is in A_KEY.' },
  ]);
});
