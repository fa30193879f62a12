/**
 * Text without what is a machine's or a person's own: folders, the ids that Alcove makes, and keys. What is recorded goes through this, and so
 * does what a replay compares with it: a recording made in one folder is replayed in another, and holds no key that Alcove knows.
 */

/** What the places of a run are called in a recording. */
export const placeNames = { project: '<project>', alcove: '<alcove>', home: '<home>' } as const;

/** A folder by the word that stands for it. */
export interface NamedFolder {
  readonly path: string;
  readonly name: string;
}

/** Shorter ones blot out ordinary words, and protect nothing. */
const shortestSecret = 4;
/** A home of `/` is in every path. */
const shortestFolder = 4;
const ownId = '\\b(?:ses|prj|dev|mac|rul)_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\\b';

export class PlainWords {
  /** Longest first: a project lies in a home. */
  readonly #folders: readonly NamedFolder[];
  readonly #secrets = new Set<string>();
  #pattern: RegExp | null = null;
  #words = new Map<string, string>();

  constructor(folders: readonly NamedFolder[]) {
    this.#folders = folders.filter(({ path }) => path.length >= shortestFolder);
  }

  /** From now on this is not written any more. */
  keepSecret(secret: string): void {
    if (secret.length < shortestSecret) return;
    this.#secrets.add(secret);
    this.#pattern = null;
  }

  text(text: string): string {
    return text.replace(this.#needles(), (found) => this.#words.get(found) ?? `${found.slice(0, 3)}_<id>`);
  }

  /** Every string in a JSON value, names of fields too. */
  value<T>(value: T): T {
    return this.#inside(value) as T;
  }

  /** For text that comes in pieces: what may be the beginning of a word that is left out waits for the next piece. */
  streamed(): StreamedText {
    return new StreamedText(
      (text) => this.text(text),
      (text) => this.#undecided(text),
    );
  }

  #inside(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((one) => this.#inside(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [this.text(name), this.#inside(inner)]));
  }

  /** One pattern of all, so that what one puts in is not read by another: a path ends where its name does, a secret anywhere. */
  #needles(): RegExp {
    if (this.#pattern !== null) return this.#pattern;
    this.#words = new Map();
    for (const secret of this.#secrets) this.#words.set(secret, '<key>');
    // In a JSON text a path may be written with escapes.
    for (const { path, name } of this.#folders)
      for (const written of new Set([path, JSON.stringify(path).slice(1, -1)])) this.#words.set(written, name);
    const alternatives = [...this.#words.keys()]
      .sort((one, other) => other.length - one.length)
      .map((word) => (this.#secrets.has(word) ? literal(word) : `(?<![\\w.-])${literal(word)}(?![\\w-])`));
    this.#pattern = new RegExp([...alternatives, ownId].join('|'), 'g');
    return this.#pattern;
  }

  /** How many characters at the end may belong to a word that is not whole yet, or not known to have ended. */
  #undecided(text: string): number {
    this.#needles();
    let longest = Math.min(text.length, longestId);
    // An id of ours: a prefix, an underscore, and what follows of it.
    const id = /\b(?:s|se|ses|p|pr|prj|d|de|dev|m|ma|mac|r|ru|rul)(?:_[0-9a-f-]*)?$/.exec(text.slice(-longest));
    longest = id?.[0].length ?? 0;
    for (const word of this.#words.keys())
      for (let length = Math.min(word.length, text.length); length > longest; length -= 1)
        if (text.endsWith(word.slice(0, length))) longest = length;
    return longest;
  }
}

const longestId = 'ses_00000000-0000-7000-8000-000000000000'.length;

export class StreamedText {
  readonly #plain: (text: string) => string;
  readonly #undecided: (text: string) => number;
  #before = '';
  #held = '';

  constructor(plain: (text: string) => string, undecided: (text: string) => number) {
    this.#plain = plain;
    this.#undecided = undecided;
  }

  push(text: string): string {
    const all = this.#held + text;
    // What stands before it ends there only once it is known what follows.
    let held = 0;
    for (let more = this.#undecided(all); more > 0; more = this.#undecided(all.slice(0, all.length - held)))
      held += more;
    this.#held = all.slice(all.length - held);
    return this.#pass(all.slice(0, all.length - held));
  }

  /** What was still held back: nothing follows it. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#pass(rest);
  }

  /** With the character before it in sight, by which the beginning of a path is told from its middle. */
  #pass(text: string): string {
    if (text === '') return '';
    const plain = this.#plain(this.#before + text).slice(this.#before.length);
    this.#before = text.slice(-1);
    return plain;
  }
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
