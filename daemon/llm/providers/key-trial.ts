/**
 * Tries a key with the provider itself, by a request that costs nothing, and reads which models it lists. Only an answer that is a list of
 * models, or of what the key may do, accepts a key; only the provider's own refusal refuses one; all else could not be tried.
 */
import { keyTrialMs, maxModelListBytes } from '../../base/limits.ts';
import type { ProxyEnvironment } from '../../base/proxy.ts';
import { readList, type ListedModel } from '../catalogue/listed-models.ts';
import type { ProviderRow } from './provider-rows.ts';
import { redact, saidBy } from '../formats/refusal.ts';
import { askShortly } from './small-answer.ts';
import { recordOf } from '../formats/wire-json.ts';

export interface TrialEnd {
  answer: 'accepted' | 'refused' | 'unreachable';
  message: string;
  /** Where the provider listed them. */
  models: ListedModel[] | null;
}

export async function tryKey(
  row: ProviderRow,
  key: string | null,
  environment: ProxyEnvironment = {},
): Promise<TrialEnd> {
  const first = await ask(row, row.tryPath, key, environment);
  const clean = (text: string) => redact(text, { name: row.label, keyName: null, key });
  const end = (answer: TrialEnd['answer'], message: string): TrialEnd => ({
    answer,
    message: clean(message),
    models: null,
  });
  if (!first.answered) {
    const next =
      row.origin === 'found'
        ? 'Look whether it runs.'
        : 'Look whether this machine is online and the address is right.';
    return end('unreachable', `${row.label} cannot be reached (${first.why}). ${next}`);
  }
  const { status, headers } = first;
  const said = saidBy(jsonOr(first.text));
  const words = said === '' ? '' : ` It said: ${said}`;
  if (status >= 300 && status < 400) {
    const target = headers.get('location') ?? '';
    const host = URL.canParse(target) ? ` to ${new URL(target).host}` : '';
    return end(
      'unreachable',
      `${row.label} answered ${status}: a redirect${host}, which is not followed with a key. Write the right address into baseUrl.`,
    );
  }
  if (status === 400 || status === 401 || status === 402 || status === 403) {
    const what = key === null ? 'wants a key' : 'did not accept the key';
    return end('refused', `${row.label} ${what} (${status}).${words}`);
  }
  if (status < 200 || status >= 300)
    return end('unreachable', `${row.label} answered ${status}, so the key could not be tried.${words}`);
  const value = jsonOr(first.text);
  const models = readList(value);
  if (models === null && (row.listPath === null || !('data' in recordOf(value))))
    return end(
      'unreachable',
      `${row.label} answered with something else than a list of models. Look whether the address is right.`,
    );
  const listed = row.listPath === null ? models : await listBeside(row, row.listPath, key, environment);
  const count = listed === null ? '' : ` It lists ${listed.length} ${listed.length === 1 ? 'model' : 'models'}.`;
  const accepted = key === null ? `${row.label} answers without a key.` : `${row.label} accepted the key.`;
  return { answer: 'accepted', message: clean(`${accepted}${count}`), models: listed };
}

async function listBeside(
  row: ProviderRow,
  path: string,
  key: string | null,
  environment: ProxyEnvironment,
): Promise<ListedModel[] | null> {
  const answer = await ask(row, path, key, environment);
  return answer.answered && answer.status === 200 ? readList(jsonOr(answer.text)) : null;
}

function ask(row: ProviderRow, path: string, key: string | null, environment: ProxyEnvironment) {
  return askShortly({
    url: `${row.baseUrl}${path}`,
    headers: headersOf(row, key),
    environment,
    timeoutMs: keyTrialMs,
    maxBytes: maxModelListBytes,
  });
}

function headersOf(row: ProviderRow, key: string | null): Record<string, string> {
  if (row.format !== 'anthropic-messages') return key === null ? {} : { authorization: `Bearer ${key}` };
  return { 'anthropic-version': '2023-06-01', ...(key !== null && { 'x-api-key': key }) };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
