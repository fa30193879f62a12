/**
 * The contract of a tool. A tool is a plain value; what it touches comes in through `ToolEnvironment`. It never asks for approval itself: it
 * declares what a call would do (`assess`) and the agent's policy decides.
 */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { Job } from '#protocol/conversation/jobs.ts';
import type { JobId } from '#protocol/values/ids.ts';
import type { CallDetails, CallDisplay } from '#protocol/values/display.ts';
import type { ResultPart } from '#protocol/values/content.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import type { Mode } from '#protocol/values/model.ts';
import type { QuestionOption } from '#protocol/events/question.ts';
import type { Todo } from '#protocol/events/work.ts';
import type { ProcessEnd } from '../base/process.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Truncation } from './truncate.ts';

export interface ToolEnvironment {
  /** Absolute folder of the project, symlinks resolved: where relative paths and commands start. */
  readonly folder: string;
  /** Absolute folders no tool may touch, in any mode: Alcove's home. */
  readonly forbidden: readonly string[];
  /** Environment for child processes, already scrubbed of secrets. */
  readonly processEnvironment: Readonly<Record<string, string>>;
  /** What commands run in, and whether they may write nothing just now, whatever it allows else. */
  readonly sandbox: { readonly of: Sandbox; readonly readOnly: boolean };
  /** Stores bytes and returns their reference; resolves once they are with the kernel. */
  storeBlob(bytes: Uint8Array): Promise<BlobRef>;
  /** A file of the session's own for output too long to show; absolute path in `spills`, folder made. */
  spillFile(name: string): Promise<string>;
  /** Absolute folder of this session's spill files: the one place inside `forbidden` that may be read, never changed. */
  readonly spills: string;
  /** What this session last read or wrote of each file, to refuse edits of a file that changed meanwhile. */
  readonly filesSeen: FilesSeen;
  /** Told of each process group before its first program runs, and when it has ended; durable, so that a later start can end orphans. */
  readonly processes: ProcessLedger;
  /** Told of each temporary file before it is made, and when it is none any more; durable, so that a later start can remove what a kill left. */
  readonly temporaries: TemporaryLedger;
  /** Commands that go on in the background of this session. */
  readonly jobs: JobDesk;
  /** Live output for the screen; returns at once. The model sees only the result. */
  output(text: string): void;
}

export interface FilesSeen {
  /** `stamp` is opaque: made by the file tools from the file's content hash. */
  get(path: string): string | undefined;
  set(path: string, stamp: string): void;
}

export interface TemporaryLedger {
  /** The path is absolute. A rejection is thrown on, and nothing was written. */
  writing(path: string): Promise<void>;
  written(path: string): Promise<void>;
}

export interface ProcessLedger {
  /** A mark to put into the children's environment, by which strays are found. A call appends a suffix of its own: `mark.suffix`. */
  readonly mark: string;
  started(group: { pid: number; startTime: string }): Promise<void>;
  /** Not called while processes of the group, or others with its mark, still run: those are ended with the session. */
  ended(group: { pid: number }): Promise<void>;
}

export interface JobDesk {
  /**
   * Resolves once the job is in the log and its program may run; after that it is no longer the call's, and its signal does not end it.
   * Rejects with JobRefused where no more may run, and with what the system says where it could not be started.
   */
  start(job: NewJob, signal: AbortSignal): Promise<JobId>;
  /** By the clock that their times come from. */
  now(): number;
  /** Those that run, and the last that ended. */
  list(): readonly Job[];
  /** What it printed since it was last read; null where there is no such job. */
  read(jobId: string): JobReading | null;
  /** Resolves when it has ended, or when the time is over; rejects with the signal's reason. */
  ended(jobId: string, waitMs: number, signal: AbortSignal): Promise<void>;
  /** Ends it with all it started, and resolves then. False where it does not run. */
  stop(jobId: string): Promise<boolean>;
}

export interface NewJob {
  readonly command: string;
  run(control: JobControl): Promise<ProcessEnd>;
}

export interface JobControl {
  readonly signal: AbortSignal;
  onOutput(piece: Uint8Array): void;
  /** To be awaited before the program runs. */
  started(): Promise<void>;
}

export interface JobReading {
  readonly job: Job;
  readonly output: Truncation;
  /** Of what came since the last reading, so much is no longer kept: newer output took its place. */
  readonly lostBytes: number;
  /** Where all that is kept stands, the older part first; none where it printed nothing. */
  readonly files: readonly string[];
}

/** Too many run already. */
export class JobRefused extends Error {
  override readonly name = 'JobRefused';
}

/** What a call would do, told without doing it. `subjects`: what rules are held against, one by one; the place in `rulePattern` where left out. */
export type Assessment =
  /**
   * Only looks. Runs in every mode, but for a `caution` (a secret file, a place outside the project), which is asked in every mode.
   * `inTurn`: after the calls before it and before those behind it, as it changes what they would see of the session itself.
   */
  | { effect: 'read'; caution: string | null; rulePattern: string; inTurn?: true }
  /** Changes files. `preview` is shown to the person who decides; `caution` says why it must be asked in every mode. */
  | {
      effect: 'change';
      caution: string | null;
      preview: CallDetails | null;
      rulePattern: string;
      subjects?: readonly string[];
    }
  /** Runs a command. `caution` says why it must be asked in every mode (destructive, or not understood). */
  /** `looks`: it was read to its end, and can change nothing: plan mode runs it, and no other command. */
  | { effect: 'command'; caution: string | null; looks: boolean; rulePattern: string; subjects?: readonly string[] }
  /** Asks a person, and waits for the answer: it is carried out by the answer, never by `execute`. */
  | { effect: 'question'; question: Question }
  /** Is carried out by a sub-agent, whose own calls are judged one by one. */
  | { effect: 'agent'; assignment: Assignment }
  /** May not run in any mode, or cannot work as things stand, so that nobody need be asked; the text goes to the model. */
  | { effect: 'refused'; reason: string };

export interface Assignment {
  /** What the sub-agent is called, in few words. */
  agent: string;
  prompt: string;
  /** Null: as the settings say. */
  model: string | null;
}

export interface Question {
  text: string;
  options: readonly QuestionOption[];
  /** The plan that it is about; then the options say what they decide. */
  plan: string | null;
}

export interface ToolResult {
  outcome: 'completed' | 'failed';
  content: ResultPart[];
  details?: CallDetails;
  /** The agent's task list as it stands from now on; in the log together with the call's end. */
  todos?: readonly Todo[];
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: Record<string, unknown>;
  /** Read-only tools are all that plan mode offers. */
  readonly readOnly: boolean;
  /** Not read-only, but offered in plan mode: there the policy runs only those of its calls that are known to look. */
  readonly offeredInPlan?: boolean;
  /** The modes that offer it; all of them where none are named. */
  readonly modes?: readonly Mode[];
  /** Ends by itself in bounded time; every other is stopped after `toolBackstopMs`. */
  readonly ownDeadline?: boolean;
  /** Only where a person leads: not for a sub-agent. */
  readonly forPeople?: boolean;
  /** Starts sub-agents: not where there can be none. */
  readonly startsAgents?: boolean;
  /** Whether a model has any use for it as things stand; where left out: always. What is not offered can be called all the same. */
  readonly relevant?: (conversation: Conversation, place: { readonly repository: boolean }) => boolean;
  /** Told when a model that may call it is asked: time to load what the first call needs. Returns at once. */
  readonly ready?: () => void;
  /** Parses the model's arguments into a bound call, or says in one sentence what is wrong with them. Lenient where models commonly err. */
  prepare(args: Record<string, unknown>): PreparedCall | { problem: string };
}

export interface PreparedCall {
  /** Pure: from the arguments alone. */
  readonly display: CallDisplay;
  /** Looks at the disk but changes nothing. Must not throw. */
  assess(environment: ToolEnvironment): Promise<Assessment>;
  /** Must not throw for what the world does (a `failed` result says it); must end within 5 s of `signal`, leaving no process of its own. */
  execute(environment: ToolEnvironment, signal: AbortSignal): Promise<ToolResult>;
}
