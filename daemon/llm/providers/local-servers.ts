/**
 * Finds model servers that run on this machine: Ollama, LM Studio, llama.cpp. Looks on loopback only, at their usual ports, all at once and for
 * a moment, when somebody asks for a list; never at the start. What answers must look like such a server, as anything may live at those ports.
 *
 * ALCOVE_LOCAL_SERVERS=off looks nowhere; a comma list of addresses (`http://127.0.0.1:9000`) looks there instead of at the usual ports.
 */
import { localServerMs, localServersKeptMs } from '../../base/limits.ts';
import type { Clock } from '../../base/clock.ts';
import type { FoundServer } from './provider-rows.ts';
import { askShortly } from './small-answer.ts';
import { listOf, recordOf, textOf } from '../formats/wire-json.ts';

type Kind = 'ollama' | 'lmstudio' | 'llamacpp';

/** An address to look at, without a slash at the end, and what may be there. */
export interface LocalPlace {
  readonly address: string;
  readonly kinds: readonly Kind[];
}

const labels: Record<Kind, string> = { ollama: 'Ollama', lmstudio: 'LM Studio', llamacpp: 'llama.cpp' };

/** Of a list of tags or models; a longer one is none. */
const maxListBytes = 1024 * 1024;

/** Where to look, as the environment says. */
export function localPlaces(environment: Readonly<Record<string, string | undefined>>): readonly LocalPlace[] {
  const wanted = environment['ALCOVE_LOCAL_SERVERS']?.trim() ?? '';
  if (wanted.toLowerCase() === 'off') return [];
  if (wanted !== '')
    return wanted.split(',').flatMap((one) => {
      const address = loopbackAddress(one, 80);
      return address === null ? [] : [{ address, kinds: ['ollama', 'lmstudio', 'llamacpp'] }];
    });
  // Set for servers too, which listen on 0.0.0.0; elsewhere than on this machine nothing is looked for.
  const host = (environment['OLLAMA_HOST'] ?? '').replace('0.0.0.0', '127.0.0.1');
  const ollama = loopbackAddress(host, 11_434) ?? 'http://127.0.0.1:11434';
  return [
    { address: ollama, kinds: ['ollama'] },
    { address: 'http://127.0.0.1:1234', kinds: ['lmstudio'] },
    { address: 'http://127.0.0.1:8080', kinds: ['llamacpp'] },
  ];
}

export class LocalServers {
  readonly #places: readonly LocalPlace[];
  readonly #clock: Clock;
  #looking: Promise<readonly FoundServer[]> | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** What was found when it was last looked. */
  #found: readonly FoundServer[] = [];
  /** What was ever found, for sessions that use it: a server that is busy answers nobody for a while. */
  readonly #known = new Map<string, FoundServer>();

  constructor(places: readonly LocalPlace[], clock: Clock) {
    this.#places = places;
    this.#clock = clock;
    for (const { address, kinds } of places) {
      const [kind] = kinds;
      if (kind !== undefined && kinds.length === 1) this.#known.set(kind, serverAt(kind, address, []));
    }
  }

  /** Those that answer now. Of those that ask at once, or within seconds, all get the same answer. */
  look(): Promise<readonly FoundServer[]> {
    const now = this.#clock.now();
    if (this.#looking !== null && Math.abs(now - this.#lookedAt) < localServersKeptMs) return this.#looking;
    this.#lookedAt = now;
    this.#looking = this.#lookNow();
    return this.#looking;
  }

  /** As they were last found. */
  get found(): readonly FoundServer[] {
    return this.#found;
  }

  /** Also those that do not answer just now: what a name means. */
  get known(): readonly FoundServer[] {
    return [...this.#known.values()];
  }

  async #lookNow(): Promise<readonly FoundServer[]> {
    const all = await Promise.all(this.#places.map((place) => lookAt(place)));
    const found: FoundServer[] = [];
    for (const one of all.flat()) {
      // A second server of a kind has a name of its own.
      const same = found.filter(({ name }) => name === one.name || name.startsWith(`${one.name}-`)).length;
      found.push(same === 0 ? one : { ...one, name: `${one.name}-${same + 1}`, label: `${one.label} ${same + 1}` });
    }
    for (const one of found) this.#known.set(one.name, one);
    this.#found = found;
    return found;
  }
}

async function lookAt({ address, kinds }: LocalPlace): Promise<FoundServer[]> {
  const [tags, models] = await Promise.all([
    kinds.includes('ollama') ? jsonFrom(`${address}/api/tags`) : null,
    kinds.some((kind) => kind !== 'ollama') ? jsonFrom(`${address}/v1/models`) : null,
  ]);
  const ollama = tags === null ? null : ollamaModels(tags.value);
  if (ollama !== null) return [serverAt('ollama', address, ollama)];
  const listed = models === null ? null : openAiModels(models.value);
  if (models === null || listed === null) return [];
  const kind = kinds.length === 1 ? (kinds[0] ?? 'llamacpp') : kindOf(models.value, models.server);
  return [serverAt(kind, address, listed)];
}

async function jsonFrom(url: string): Promise<{ value: unknown; server: string } | null> {
  const answer = await askShortly({ url, headers: {}, timeoutMs: localServerMs, maxBytes: maxListBytes });
  if (!answer.answered || answer.status !== 200) return null;
  try {
    return { value: JSON.parse(answer.text), server: answer.headers.get('server') ?? '' };
  } catch {
    return null;
  }
}

function ollamaModels(value: unknown): string[] | null {
  const models = recordOf(value)['models'];
  if (!Array.isArray(models)) return null;
  return namesOf(listOf(models).map((one) => textOf(recordOf(one)['name']) || textOf(recordOf(one)['model'])));
}

function openAiModels(value: unknown): string[] | null {
  const { object, data } = recordOf(value);
  if (object !== 'list' || !Array.isArray(data)) return null;
  return namesOf(listOf(data).map((one) => textOf(recordOf(one)['id'])));
}

/** Without those that only turn text into numbers. */
function namesOf(names: string[]): string[] {
  return names.filter((name) => name !== '' && !/\s/.test(name) && name.length <= 200 && !/embed|rerank/i.test(name));
}

function kindOf(value: unknown, server: string): Kind {
  const owners = listOf(recordOf(value)['data']).map((one) => textOf(recordOf(one)['owned_by']));
  return /llama/i.test(server) || owners.includes('llamacpp') ? 'llamacpp' : 'lmstudio';
}

function serverAt(kind: Kind, address: string, models: readonly string[]): FoundServer {
  return { name: kind, label: labels[kind], baseUrl: `${address}/v1`, models };
}

/** `host`, `host:port` or a whole address; null where it is not on loopback. */
function loopbackAddress(text: string, port: number): string | null {
  const written = text.trim().replace(/\/+$/, '');
  if (written === '') return null;
  const whole = /^[a-z]+:\/\//i.test(written) ? written : `http://${written}`;
  if (!URL.canParse(whole)) return null;
  const url = new URL(whole);
  if (url.protocol !== 'http:' || !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)) return null;
  // The port of http itself is not written; who means it has to say so.
  const named = /:\d+$/.exec(written.replace(/^[a-z]+:\/\//i, ''))?.[0];
  return `http://${url.hostname}${named ?? `:${port}`}`;
}
