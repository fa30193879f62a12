/**
 * The daemon's own log: JSON Lines for the person who asks why something failed. Never conversation data: say which session, not what was
 * said. Bounded: at its limit the file becomes `.old` and a new one starts. Values named as secret never reach the file. Writing is
 * synchronous, so that the last line before a crash is there; where it fails, the line is lost and nothing else happens.
 */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import type { Clock } from './clock.ts';
import { messageOf } from './errors.ts';
import { ownerOnlyFileMode } from './files.ts';
import { maxDiagnosticsBytes, maxDiagnosticValueBytes } from './limits.ts';

export type DiagnosticLevel = 'debug' | 'info' | 'warn' | 'error';
export type DiagnosticFields = Readonly<Record<string, unknown>>;

/** A shorter secret would blot out ordinary words, and protects nothing. */
const shortestSecret = 4;
const redacted = '[secret]';

export class Diagnostics {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #secrets = new Set<string>();
  #file: number | null = null;
  #bytes = 0;
  #closed = false;

  constructor(path: string, clock: Clock, maxBytes = maxDiagnosticsBytes) {
    this.#path = path;
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /** From now on this value is written as `[secret]`, wherever it stands. */
  keepSecret(value: string): void {
    if (value.length >= shortestSecret) this.#secrets.add(value);
  }

  debug(message: string, fields: DiagnosticFields = {}): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields: DiagnosticFields = {}): void {
    this.#write('info', message, fields);
  }

  warn(message: string, fields: DiagnosticFields = {}): void {
    this.#write('warn', message, fields);
  }

  error(message: string, fields: DiagnosticFields = {}): void {
    this.#write('error', message, fields);
  }

  close(): void {
    this.#closed = true;
    this.#closeFile();
  }

  #write(level: DiagnosticLevel, message: string, fields: DiagnosticFields): void {
    if (this.#closed) return;
    try {
      const record = { at: new Date(this.#clock.now()).toISOString(), level, message, ...fields };
      const line = Buffer.from(`${JSON.stringify(this.#presentable(record, 0))}\n`);
      const file = this.#fileFor(line.length);
      this.#bytes += writeSync(file, line);
    } catch {
      this.#closeFile(); // Full or read-only disk: the next line tries again.
    }
  }

  #fileFor(bytes: number): number {
    this.#file ??= this.#openFile();
    if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) {
      this.#closeFile();
      renameSync(this.#path, `${this.#path}.old`);
      this.#file = this.#openFile();
    }
    return this.#file;
  }

  #openFile(): number {
    const file = openSync(this.#path, 'a', ownerOnlyFileMode);
    this.#bytes = fstatSync(file).size;
    return file;
  }

  #closeFile(): void {
    if (this.#file === null) return;
    const file = this.#file;
    this.#file = null;
    try {
      closeSync(file);
    } catch {
      // Nothing more can be done for it.
    }
  }

  /** A copy fit for the file: secrets out, errors spelled out, long strings cut, depth bounded. */
  #presentable(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#cut(this.#redact(value));
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > 6) return '[deeper]';
    if (value instanceof Error) {
      const { code, cause } = value as { code?: unknown; cause?: unknown };
      const told = { error: value.name, code, message: messageOf(value), stack: value.stack, cause };
      return this.#presentable(told, depth + 1);
    }
    if (Array.isArray(value)) return value.map((item) => this.#presentable(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [this.#redact(name), this.#presentable(field, depth + 1)]),
    );
  }

  #redact(text: string): string {
    let result = text;
    for (const secret of this.#secrets) result = result.replaceAll(secret, redacted);
    return result;
  }

  #cut(text: string): string {
    if (Buffer.byteLength(text) <= maxDiagnosticValueBytes) return text;
    return `${text.slice(0, maxDiagnosticValueBytes / 4)} [cut]`;
  }
}
