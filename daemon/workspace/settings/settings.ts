/**
 * `settings.json` under the home: what a person writes by hand. Read at the start and whenever it has changed; a file that does not fit leaves the
 * last good settings in force and says what is wrong. Alcove itself writes one thing into it, the model that was chosen, and keeps all else.
 *
 *   { "providers": { "NAME": { "format": "openai-chat", "baseUrl": "https://…/v1", "keyEnv": "NAME_API_KEY", "models": ["…"] } },
 *     "model": "NAME/model", "durability": "kernel" }
 */
import { readFile, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { RequestError } from '#protocol/errors.ts';
import { misfit, z } from '#protocol/schema.ts';
import { modelWish } from '#protocol/values/model.ts';
import { sandboxLevel, type SandboxLevel } from '#protocol/values/sandbox.ts';
import { messageOf, systemCode } from '../../base/errors.ts';
import { writeFileAtomically } from '../../base/files.ts';
import { defaultCompactAt } from '../../base/limits.ts';
import { SerialQueue } from '../../base/serial.ts';
import { parseProviders, providerSettings, type ProviderSettings } from '../../llm/providers/provider-settings.ts';

/** The file as a person may write it. Its descriptions are what the reference says. */
export const settingsDocument = z.looseObject({
  model: z.optional(modelWish.check(z.describe('The model that new sessions take.'))),
  subAgentModel: z.optional(
    modelWish.check(z.describe('The model that sub-agents take; without it that of the session they work for.')),
  ),
  aliases: z.optional(
    z
      .record(z.string(), modelWish)
      .check(z.describe('Names of your own for models: { "fast": "groq/llama-3.3-70b-versatile" }.')),
  ),
  promptCache: z.optional(
    z
      .enum(['5m', '1h'])
      .check(
        z.describe(
          'How long a vendor is asked to keep what it has read of a conversation: 5m (the default), or 1h, which costs more to write and lasts through a pause. Heeded by anthropic-messages.',
        ),
      ),
  ),
  durability: z.optional(
    z
      .enum(['kernel', 'power'])
      .check(
        z.describe(
          'When an input counts as kept: once the system has it (kernel, the default), or once it is on the disk itself (power): slower, and proof against a power cut.',
        ),
      ),
  ),
  compactAt: z.optional(
    z
      .union([z.literal(false), z.number().check(z.minimum(0.1), z.maximum(0.95))])
      .check(
        z.describe(
          `How full the model's window is (0.1 to 0.95) before the old steps are summarised by themselves; ${defaultCompactAt} by default, false: never.`,
        ),
      ),
  ),
  checks: z.optional(
    z
      .record(z.string().check(z.startsWith('/')), z.string().check(z.minLength(1)))
      .check(
        z.describe(
          'A command for each project, by its absolute folder, that is run when a turn that changed files would end: { "/home/me/garden": "npm test" }. Where it fails the agent is told, once; it runs without a question.',
        ),
      ),
  ),
  sandbox: z.optional(
    z
      .strictObject({
        level: sandboxLevel.check(
          z.describe(
            'off (the default): commands run with your own rights. workspace-write: they write in the project and in a temporary folder of their own. read-only: in that folder alone. Needs bubblewrap on Linux.',
          ),
        ),
        network: z.optional(
          z.boolean().check(z.describe('Whether commands reach the network; they do unless this is false.')),
        ),
        writable: z.optional(
          z
            .array(z.string().check(z.startsWith('/')))
            .check(z.describe('Absolute folders that commands may write in besides the project: ["/home/me/.npm"].')),
        ),
      })
      .check(z.describe('What holds the commands of agents back besides questions. Read when Alcove starts.')),
  ),
  turnCap: z.optional(
    z
      .strictObject({
        tokens: z.optional(
          z
            .int()
            .check(
              z.positive(),
              z.describe('Tokens read anew and written, those of its sub-agents and summaries too.'),
            ),
        ),
        cost: z.optional(
          z
            .number()
            .check(
              z.positive(),
              z.describe('US dollars, as far as prices are known; what is unknown is told, and counts nothing.'),
            ),
        ),
      })
      .check(z.describe('What a turn may use: then it stops between two steps, and a message goes on.')),
  ),
  providers: z.optional(z.record(z.string(), providerSettings)),
});
/** How it is read: one bad row of `providers` does not take the others with it. */
const document = z.extend(settingsDocument, { providers: z.optional(z.unknown()) });

/** As a person writes it, with what is left out. */
export interface SandboxSettings {
  readonly level: SandboxLevel;
  readonly network: boolean;
  readonly writable: readonly string[];
}

export interface Settings {
  readonly providers: ReadonlyMap<string, ProviderSettings>;
  readonly model: string | null;
  /** The model that sub-agents take; null: that of the session they work for. */
  readonly subAgentModel: string | null;
  readonly aliases: ReadonlyMap<string, string>;
  readonly promptCache: '5m' | '1h';
  readonly durability: 'kernel' | 'power';
  /** Null: never. */
  readonly compactAt: number | null;
  /** What a turn may use; null: as much as it needs. */
  readonly cap: { readonly tokens: number | null; readonly cost: number | null };
  /** By the absolute folder of a project. */
  readonly checks: ReadonlyMap<string, string>;
  /** As it was when Alcove started is what counts. */
  readonly sandbox: SandboxSettings;
}

const none: Settings = {
  providers: new Map(),
  model: null,
  subAgentModel: null,
  aliases: new Map(),
  promptCache: '5m',
  durability: 'kernel',
  compactAt: defaultCompactAt,
  cap: { tokens: null, cost: null },
  checks: new Map(),
  sandbox: { level: 'off', network: true, writable: [] },
};

export class SettingsFile {
  readonly #path: string;
  #value: Settings = none;
  #problems: string[] = [];
  #seen = '';
  readonly #writes = new SerialQueue();

  constructor(path: string) {
    this.#path = path;
  }

  get value(): Settings {
    return this.#value;
  }

  /** What is wrong with the file as it is now, a sentence each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Reads the file where it has changed since it was last read. Returns whether it had. */
  async refresh(): Promise<boolean> {
    const found = await stat(this.#path).catch(() => null);
    const seen = found === null ? 'missing' : `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (seen === this.#seen) return false;
    this.#seen = seen;
    await this.#read();
    return true;
  }

  /** Writes the model that new sessions take, and leaves everything else as it is. Rejects where the file cannot be understood: then nothing is written. */
  choose(model: string): Promise<void> {
    return this.#writes.run(async () => {
      const text = await textOf(this.#path);
      let value: unknown = {};
      try {
        if (text !== null && text.trim() !== '') value = JSON.parse(text);
      } catch (error) {
        throw new RequestError(
          'conflict',
          `${this.#path} is not valid JSON (${messageOf(error)}), so the model was not written into it. Mend the file, then choose again.`,
        );
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new RequestError(
          'conflict',
          `${this.#path} holds no JSON object, so the model was not written into it. Mend the file, then choose again.`,
        );
      // A file that people keep elsewhere stays where it is, and their link to it too.
      const target = text === null ? this.#path : await realpath(this.#path);
      await writeFileAtomically(target, `${JSON.stringify({ ...value, model }, null, indentOf(text ?? ''))}\n`);
    });
  }

  get #inForce(): string {
    return this.#value === none ? 'nothing of it is in force' : 'the settings before are in force';
  }

  async #read(): Promise<void> {
    let value: unknown;
    try {
      value = JSON.parse(await readFile(this.#path, 'utf8'));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') {
        this.#value = none;
        this.#problems = [];
      } else this.#problems = [`${this.#path} could not be read (${messageOf(error)}); ${this.#inForce}.`];
      return;
    }
    const problem = misfit(document, value);
    if (problem !== null) {
      this.#problems = [`${this.#path} does not fit (${problem}); ${this.#inForce}.`];
      return;
    }
    const { providers: rows, aliases, ...said } = value as z.infer<typeof document>;
    const { providers, problems } = parseProviders(rows);
    this.#value = {
      providers,
      model: said.model ?? null,
      subAgentModel: said.subAgentModel ?? null,
      aliases: new Map(Object.entries(aliases ?? {})),
      promptCache: said.promptCache ?? '5m',
      durability: said.durability ?? 'kernel',
      sandbox: {
        level: said.sandbox?.level ?? 'off',
        network: said.sandbox?.network ?? true,
        writable: said.sandbox?.writable ?? [],
      },
      checks: new Map(Object.entries(said.checks ?? {}).map(([folder, command]) => [resolve(folder), command])),
      cap: { tokens: said.turnCap?.tokens ?? null, cost: said.turnCap?.cost ?? null },
      compactAt: said.compactAt === false ? null : (said.compactAt ?? defaultCompactAt),
    };
    this.#problems = problems.map((one) => `${this.#path}: ${one}`);
  }
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** As the person writes it. */
function indentOf(text: string): string {
  return /^[{[]\r?\n([ \t]+)/.exec(text.trimStart())?.[1] ?? '  ';
}
