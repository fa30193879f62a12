/**
 * Tools as they are, with each call written down: what its arguments mean, what it was judged to do, and what came of it. A tool does not know
 * which call of a step it is, so calls are told apart by tool and arguments; the same call made again adds to the same row, in its order.
 */
import type { ResultPart } from '#protocol/values/content.ts';
import { canonicalJson } from '../base/digest.ts';
import {
  JobRefused,
  type Assessment,
  type JobDesk,
  type PreparedCall,
  type Tool,
  type ToolEnvironment,
  type ToolResult,
} from '../tools/tool.ts';
import type { EntryOf } from './format.ts';
import type { PlainWords } from './plain-words.ts';
import type { RecordingFile } from './recording-file.ts';

interface Row {
  readonly call: number;
  /** What was written of it last, since its last result. */
  assessment: string | null;
}

export class RecordedCalls {
  readonly #file: RecordingFile;
  readonly #words: PlainWords;
  readonly #rows = new Map<string, Row>();
  readonly #blobs = new Set<string>();

  constructor(file: RecordingFile, words: PlainWords) {
    this.#file = file;
    this.#words = words;
  }

  wrap(tool: Tool): Tool {
    const { name, description, parameters, readOnly, offeredInPlan, modes, forPeople, startsAgents, relevant } = tool;
    this.#file.write({
      type: 'tool',
      name,
      description,
      parameters,
      readOnly,
      ...(offeredInPlan === undefined ? {} : { offeredInPlan }),
      ...(modes === undefined ? {} : { modes: [...modes] }),
      ...(forPeople === undefined ? {} : { forPeople }),
      ...(startsAgents === undefined ? {} : { startsAgents }),
      ...(relevant === undefined ? {} : { sometimes: true as const }),
    });
    return {
      ...tool,
      prepare: (args) => {
        const prepared = tool.prepare(args);
        const row = this.#row(tool.name, args, prepared);
        return 'problem' in prepared ? prepared : this.#prepared(row, prepared);
      },
    };
  }

  #row(tool: string, args: Record<string, unknown>, prepared: PreparedCall | { problem: string }): Row {
    const plain = this.#words.value(args);
    const key = keyOf(tool, plain);
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const row: Row = { call: this.#rows.size + 1, assessment: null };
    this.#rows.set(key, row);
    const told = this.#words.value(
      'problem' in prepared
        ? { display: null, problem: prepared.problem }
        : { display: prepared.display, problem: null },
    );
    this.#file.write({ type: 'call', call: row.call, tool, arguments: plain, ...told });
    return row;
  }

  #prepared(row: Row, prepared: PreparedCall): PreparedCall {
    return {
      display: prepared.display,
      assess: async (environment) => {
        const assessment = await prepared.assess(environment);
        this.#assessed(row, assessment);
        return assessment;
      },
      execute: async (environment, signal) => {
        const stored = new Map<string, Uint8Array>();
        const result = await prepared.execute(storingInto(environment, stored), signal);
        // What a stopped call still says is not its end: that is written when the turn is closed (see agent/calls.ts).
        if (!signal.aborted || result.outcome === 'completed') this.#ended(row, result, stored);
        return result;
      },
    };
  }

  #assessed(row: Row, assessment: Assessment): void {
    const plain = this.#words.value(assessment) as EntryOf<'assessed'>['assessment'];
    const text = canonicalJson(plain);
    if (row.assessment === text) return;
    row.assessment = text;
    this.#file.write({ type: 'assessed', call: row.call, assessment: plain });
  }

  #ended(row: Row, result: ToolResult, stored: ReadonlyMap<string, Uint8Array>): void {
    for (const sha256 of blobsIn(result.content)) {
      const bytes = stored.get(sha256);
      if (bytes === undefined || this.#blobs.has(sha256)) continue;
      this.#blobs.add(sha256);
      this.#file.write({ type: 'blob', sha256, base64: Buffer.from(bytes).toString('base64') });
    }
    row.assessment = null;
    const { outcome, content, details, todos } = result;
    const told = {
      outcome,
      content,
      ...(details === undefined ? {} : { details }),
      ...(todos === undefined ? {} : { todos: [...todos] }),
    };
    this.#file.write({ type: 'result', call: row.call, result: this.#words.value(told) });
  }
}

/** By which a call is known again. */
export function keyOf(tool: string, plainArguments: Record<string, unknown>): string {
  return canonicalJson([tool, plainArguments]);
}

/** What the model is shown is needed again; the bytes of files before and after are not. */
function blobsIn(content: readonly ResultPart[]): string[] {
  return content.flatMap((part) => (part.type === 'text' ? [] : [part.blob.sha256]));
}

function storingInto(environment: ToolEnvironment, stored: Map<string, Uint8Array>): ToolEnvironment {
  return {
    ...environment,
    jobs: noJobs(environment.jobs),
    storeBlob: async (bytes) => {
      const blob = await environment.storeBlob(bytes);
      stored.set(blob.sha256, bytes);
      return blob;
    },
  };
}

/** When a job prints and ends is told by nobody's call: a run that is recorded has none. */
function noJobs(jobs: JobDesk): JobDesk {
  return {
    start: () =>
      Promise.reject(
        new JobRefused('Nothing runs in the background in a run that is recorded. Run it in the foreground.'),
      ),
    now: () => jobs.now(),
    list: () => [],
    read: () => null,
    ended: () => Promise.resolve(),
    stop: () => Promise.resolve(false),
  };
}
