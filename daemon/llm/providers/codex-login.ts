/**
 * The login of the Codex CLI, used as it lies in `auth.json` of its folder: read before each request, renewed when it is about to expire or was
 * refused, and written back so that the CLI goes on with it. Promises: one renewal at a time, in this process and among all Alcoves, by a lock
 * beside the file; what another has renewed meanwhile is taken and not renewed again; the file is replaced whole, for its owner alone, and
 * every field that is not known here is kept. The refresh token goes to the token address and nowhere else: not into messages, not into logs.
 */
import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Failure } from '#protocol/values/outcome.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, systemCode } from '../../base/errors.ts';
import { writeFileAtomically } from '../../base/files.ts';
import { loginLockMs, loginRenewMs, maxRefusalBytes } from '../../base/limits.ts';
import { acquireLock, type Lock } from '../../base/lock.ts';
import type { Granted, WireAccess } from '../formats/wire-client.ts';
import { recordOf, textOf } from '../formats/wire-json.ts';
import { askShortly } from './small-answer.ts';

export interface CodexLoginOptions {
  environment: Readonly<Record<string, string | undefined>>;
  /** The person's home folder; empty where there is none. */
  userHome: string;
  clock: Clock;
  /** From now on this must not stand in any log. */
  secret(token: string): void;
}

interface Tokens {
  /** The whole file as it was read. */
  file: Record<string, unknown>;
  access: string;
  refresh: string;
  account: string;
}

/** The public id by which the Codex CLI is known to its login service. */
const clientId = 'app_EMoamEEZ73f0CkXaXp7hrann';
/** Renewed before it expires, so that no request is spent on finding out. */
const marginMs = 5 * 60_000;

export class CodexLogin implements WireAccess {
  readonly #options: CodexLoginOptions;
  readonly #path: string;
  #renewing: Promise<Granted> | null = null;

  constructor(options: CodexLoginOptions) {
    this.#options = options;
    const named = options.environment['CODEX_HOME']?.trim() ?? '';
    const folder = named !== '' || options.userHome === '' ? named : join(options.userHome, '.codex');
    this.#path = folder === '' ? '' : join(folder, 'auth.json');
  }

  /** Why there is no login to use; null where there is one. */
  get obstacle(): Failure | null {
    const found = this.#read();
    return 'denied' in found ? found.denied : null;
  }

  async now(): Promise<Granted> {
    const found = this.#read();
    if ('denied' in found) return found;
    const expires = expiryOf(found.access);
    if (expires !== null && expires - marginMs < this.#options.clock.now()) return await this.#renew(found.access);
    return granted(found);
  }

  renew(refused: string): Promise<Granted> {
    return this.#renew(refused);
  }

  /** All who ask while one renewal runs get its answer: it is nobody's own, so nobody's signal ends it. */
  #renew(refused: string): Promise<Granted> {
    this.#renewing ??= this.#renewLocked(refused).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewLocked(refused: string): Promise<Granted> {
    let lock: Lock | null = null;
    try {
      // A file that people keep elsewhere stays there, and is one file for all who come by a link.
      const path = await realpath(this.#path);
      lock = await waitForLock(`${path}.lock`);
      if (lock === null)
        return denial('The Codex login is being renewed elsewhere, and that does not end. Try again in a moment.');
      const found = this.#read();
      if ('denied' in found) return found;
      if (found.access !== refused) return granted(found);
      const fresh = await this.#ask(found);
      if ('denied' in fresh) return fresh;
      await writeFileAtomically(path, `${JSON.stringify(fresh.file, null, 2)}\n`);
      return granted(fresh);
    } catch (error) {
      return denial(`The Codex login could not be renewed (${systemCode(error) ?? messageOf(error)}). ${next}`);
    } finally {
      lock?.release();
    }
  }

  async #ask(before: Tokens): Promise<Tokens | { denied: Failure }> {
    const { environment, clock } = this.#options;
    const answer = await askShortly({
      url: environment['CODEX_REFRESH_TOKEN_URL_OVERRIDE'] ?? 'https://auth.openai.com/oauth/token',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: clientId,
        grant_type: 'refresh_token',
        refresh_token: before.refresh,
        scope: 'openid profile email',
      }),
      environment,
      timeoutMs: loginRenewMs,
      maxBytes: maxRefusalBytes,
    });
    if (!answer.answered)
      return denial(
        `The Codex login has expired and could not be renewed (${answer.why}). Look whether this machine is online, then try again.`,
        'provider_unreachable',
      );
    const fields = recordOf(jsonOr(answer.text));
    const access = textOf(fields['access_token']);
    // The words of the service are left out: they may repeat what was sent.
    if (answer.status !== 200 || access === '')
      return denial(`The Codex login has expired, and its renewal was refused (${answer.status}). ${next}`);
    const refresh = textOf(fields['refresh_token']) || before.refresh;
    const id = textOf(fields['id_token']);
    const tokens = {
      ...recordOf(before.file['tokens']),
      access_token: access,
      refresh_token: refresh,
      ...(id !== '' && { id_token: id }),
    };
    const file = { ...before.file, tokens, last_refresh: new Date(clock.now()).toISOString() };
    return this.#known({ file, access, refresh, account: before.account });
  }

  /** At once: it is a few KiB, and asked for wherever a list says who can be used. */
  #read(): Tokens | { denied: Failure } {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      const missing = systemCode(error) === 'ENOENT' || this.#path === '';
      return denial(
        missing ? `There is no Codex login on this machine. ${next}` : `${this.#path} could not be read. ${next}`,
      );
    }
    const file = recordOf(jsonOr(text));
    const tokens = recordOf(file['tokens']);
    const access = textOf(tokens['access_token']);
    const refresh = textOf(tokens['refresh_token']);
    if (access === '') return denial(`${this.#path} holds no login with ChatGPT. ${next}`);
    const account = textOf(tokens['account_id']) || accountOf(textOf(tokens['id_token'])) || accountOf(access);
    return this.#known({ file, access, refresh, account });
  }

  #known(tokens: Tokens): Tokens {
    for (const one of [tokens.access, tokens.refresh]) if (one !== '') this.#options.secret(one);
    return tokens;
  }
}

const next = 'Run “codex login” in a terminal, then try again.';

function denial(message: string, code: Failure['code'] = 'unauthorized'): { denied: Failure } {
  return { denied: { code, message } };
}

function granted({ access, account }: Tokens): Granted {
  return { token: access, headers: account === '' ? {} : { 'chatgpt-account-id': account } };
}

/** Another process renews within seconds; whoever waits longer is told. */
async function waitForLock(path: string): Promise<Lock | null> {
  for (const until = performance.now() + loginLockMs; ;) {
    const lock = acquireLock(path);
    if (lock !== null || performance.now() > until) return lock;
    await delay(50);
  }
}

/** When a token says that it expires; null where it says nothing that can be read. */
function expiryOf(token: string): number | null {
  const seconds = claimsOf(token)['exp'];
  return typeof seconds === 'number' ? seconds * 1000 : null;
}

function accountOf(token: string): string {
  return textOf(recordOf(claimsOf(token)['https://api.openai.com/auth'])['chatgpt_account_id']);
}

/** What a JSON Web Token says; nothing of it is trusted, its maker checks it. */
function claimsOf(token: string): Record<string, unknown> {
  return recordOf(jsonOr(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
