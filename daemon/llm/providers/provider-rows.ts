/**
 * All providers there are, as one kind of row: the settings', the known vendors', and the servers of this machine, in this order of right to a
 * name. Pure.
 */
import { entriesOf, type ModelEntry, type ProviderSettings } from './provider-settings.ts';
import { vendors, type Vendor } from '../catalogue/vendors.ts';

export interface ProviderRow {
  readonly name: string;
  readonly label: string;
  readonly origin: 'known' | 'settings' | 'found';
  readonly format: ProviderSettings['format'];
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly keyNeeded: boolean;
  /** A login of another program that it is asked with, instead of a key. */
  readonly login: 'codex' | null;
  /** Environment variables that are looked at for its key, in this order. */
  readonly keyVariables: readonly string[];
  readonly keysPage: string | null;
  readonly tryPath: string;
  readonly listPath: string | null;
  /** The vendor at this address; its prices hold here. */
  readonly vendor: Vendor | null;
  /** Whose catalogue tells what its models can do: the vendor's, also where only the name is the vendor's (a gateway). */
  readonly catalogue: string | null;
  /** Named in the settings, or found on a server. */
  readonly models: readonly ModelEntry[];
}

/** A server of this machine that speaks OpenAI Chat Completions. */
export interface FoundServer {
  readonly name: string;
  readonly label: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
}

export function rowsOf(
  settings: ReadonlyMap<string, ProviderSettings>,
  found: readonly FoundServer[],
): ReadonlyMap<string, ProviderRow> {
  const rows = new Map<string, ProviderRow>();
  for (const [name, row] of settings) rows.set(name, rowOfSettings(name, row));
  for (const vendor of vendors) if (!rows.has(vendor.name)) rows.set(vendor.name, rowOfVendor(vendor));
  for (const server of found) if (!rows.has(server.name)) rows.set(server.name, rowOfServer(server));
  return rows;
}

/** Whom a key is for: a key goes to the address that it was given for, and to no other. */
export function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

function rowOfVendor(vendor: Vendor): ProviderRow {
  const { name, label, format, baseUrl, keyVariables, keysPage, tryPath, listPath, catalogue } = vendor;
  return {
    name,
    label,
    origin: 'known',
    format,
    baseUrl,
    keyNeeded: vendor.login === undefined,
    login: vendor.login ?? null,
    keyVariables,
    keysPage,
    tryPath,
    listPath: listPath ?? null,
    vendor,
    catalogue,
    models: (vendor.models ?? []).map((id) => ({ id })),
  };
}

function rowOfSettings(name: string, settings: ProviderSettings): ProviderRow {
  const written = settings.baseUrl.replace(/\/+$/, '');
  // The format's own path begins with /v1, and people write that into the address all the same.
  const baseUrl = settings.format === 'anthropic-messages' ? written.replace(/\/v1$/, '') : written;
  const vendor = vendors.find((one) => originOf(one.baseUrl) === originOf(baseUrl)) ?? null;
  const namesake = vendors.find((one) => one.name === name) ?? null;
  // A vendor's variable is looked at for the vendor's own address alone: a gateway of the same name must not get the key.
  const keyVariables = settings.keyEnv === undefined ? (vendor?.keyVariables ?? []) : [settings.keyEnv];
  return {
    name,
    label: namesake?.label ?? name,
    origin: 'settings',
    format: settings.format,
    baseUrl,
    keyNeeded: settings.login === undefined && keyVariables.length > 0,
    login: settings.login ?? null,
    keyVariables,
    keysPage: vendor?.keysPage ?? null,
    tryPath: settings.format === vendor?.format ? vendor.tryPath : tryPaths[settings.format],
    listPath: settings.format === vendor?.format ? (vendor.listPath ?? null) : null,
    vendor,
    catalogue: vendor?.catalogue ?? namesake?.catalogue ?? null,
    models: entriesOf(settings),
  };
}

function rowOfServer(server: FoundServer): ProviderRow {
  return {
    name: server.name,
    label: server.label,
    origin: 'found',
    format: 'openai-chat',
    baseUrl: server.baseUrl,
    keyNeeded: false,
    login: null,
    keyVariables: [],
    keysPage: null,
    tryPath: tryPaths['openai-chat'],
    listPath: null,
    vendor: null,
    catalogue: null,
    models: server.models.map((id) => ({ id })),
  };
}

const tryPaths: Record<ProviderSettings['format'], string> = {
  'anthropic-messages': '/v1/models?limit=1000',
  'openai-chat': '/models',
  'openai-responses': '/models',
};
