/**
 * `alcove run`: one input, to its end, without the daemon. Standard output carries the answer alone, or with --json each event as a line; what a person
 * should see besides goes to standard error. On a terminal approvals are asked there; elsewhere such a call is denied, and the run goes on.
 */
import { readFile, stat } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { isPlanReview } from '#protocol/conversation/open.ts';
import type { CommandMark, SessionEvent } from '#protocol/event.ts';
import type { TurnOutcome } from '#protocol/values/outcome.ts';
import { effort as effortSchema, modelWish, type Effort } from '#protocol/values/model.ts';
import { misfit } from '#protocol/schema.ts';
import { digestOf } from '../base/digest.ts';
import { messageOf, systemCode } from '../base/errors.ts';
import { maxSystemPromptBytes } from '../base/limits.ts';
import { openOneShot, type OneShot } from '../one-shot.ts';
import { answerOf, printAnswer } from './answer.ts';
import { Asker } from './asker.ts';
import { inHome } from './home-refusal.ts';
import { noAnswer, unattended } from './nobody.ts';
import { readWay, type Way } from './strategy.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';
import { visible } from './visible.ts';
import { whichSession } from './which-session.ts';

const exitCodes: Record<TurnOutcome, number> = { completed: 0, failed: 1, interrupted: 1, aborted: 130 };

interface RunOptions {
  text: string;
  folder: string;
  model: string | null;
  effort: Effort | null;
  way: Way;
  json: boolean;
  sessionFile: string | null;
  record: string | null;
  /** In the place of the system prompt. */
  prompt: string | null;
  /** `undefined`: as the settings say; null: never. */
  compactAt: number | null | undefined;
}

export async function run(
  around: Surroundings,
  prompt: string | undefined,
  given: Record<string, unknown>,
): Promise<number> {
  // A reader that went away (`| head`) ends the output, not the work.
  process.stdout.on('error', () => undefined);
  const onTerminal = process.stdin.isTTY && process.stderr.isTTY;
  const options = await readOptions(around, prompt, given, onTerminal);
  const opening = openOneShot({
    ...around,
    folder: options.folder,
    sessionFile: options.sessionFile,
    model: options.model,
    effort: options.effort,
    mode: options.way.mode,
    // One step that can call nothing.
    withTools: options.way.strategy !== 'single',
    unattended: onTerminal ? null : unattended,
    noAnswer: onTerminal ? null : (plan) => (plan && options.way.accepts !== null ? null : noAnswer(plan)),
    record: options.record,
    prompt: options.prompt,
    compactAt: options.compactAt,
    acceptsPlan: options.way.accepts !== null,
    note: (note) => process.stderr.write(visible(`· ${note}\n`)),
    fault: (error) => process.stderr.write(`alcove: ${messageOf(error)}\n`),
  });
  // A file that the person named stands somewhere else.
  const oneShot = await (options.sessionFile === null ? inHome(around.home, opening) : opening);
  try {
    const code = await follow(oneShot, options, onTerminal);
    oneShot.finish();
    return code;
  } finally {
    const problem = oneShot.recordingProblem();
    if (problem !== null) process.stderr.write(`alcove: ${problem}\n`);
    await oneShot.close();
  }
}

async function readOptions(
  around: Surroundings,
  prompt: string | undefined,
  given: Record<string, unknown>,
  onTerminal: boolean,
): Promise<RunOptions> {
  const model = valueOf(given, 'model');
  const effort = oneOf(given, 'effort', 'reasoning');
  const mode = given['yolo'] === true ? yolo(valueOf(given, 'mode')) : valueOf(given, 'mode');
  const cwd = valueOf(given, 'cwd');
  const record = valueOf(given, 'record');
  const rest = given['--'];
  const words = prompt ?? (Array.isArray(rest) ? rest.join(' ') : '');
  const text = words === '/dev/stdin' ? await textOf(process.stdin) : words;
  if (text.trim() === '')
    throw new UsageError('Say what should be done: alcove run "…", or - to read it from standard input.');
  if (model !== null && misfit(modelWish, model) !== null)
    throw new UsageError('--model takes the name of a model, such as offline/demo.');
  if (effort !== null && misfit(effortSchema, effort) !== null)
    throw new UsageError('--effort takes off, low, medium, high or xhigh.');
  if (mode !== null && mode !== 'ask' && mode !== 'plan' && mode !== 'auto')
    throw new UsageError('--mode takes ask, plan or auto.');
  const way = readWay({ strategy: valueOf(given, 'strategy'), mode, yes: given['yes'] === true }, onTerminal);
  const folder = cwd ?? around.folder;
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) throw new UsageError(`--cwd: there is no folder ${folder}.`);
  const named = {
    session: valueOf(given, 'session'),
    resume: valueOf(given, 'resume'),
    newest: given['continue'] === true,
  };
  const session = await whichSession(named, around.home, folder);
  if (record !== null && session !== null && (await stat(session).catch(() => null)) !== null)
    throw new UsageError('--record begins with a new session: what was said before would be missing from it.');
  return {
    text,
    folder,
    model,
    effort: effort as Effort | null,
    way,
    json: given['json'] === true,
    sessionFile: session,
    record,
    prompt: await promptOf(valueOf(given, 'systemPromptFile')),
    compactAt: compactAtOf(given),
  };
}

/** Two names of one option. */
function oneOf(given: Record<string, unknown>, name: string, other: string): string | null {
  const [one, same] = [valueOf(given, name), valueOf(given, other)];
  if (one !== null && same !== null) throw new UsageError(`--${name} and --${other} are the same: give one of them.`);
  return one ?? same;
}

function yolo(mode: string | null): string {
  if (mode !== null) throw new UsageError('--yolo is --mode auto: give one of them.');
  return 'auto';
}

async function promptOf(file: string | null): Promise<string | null> {
  if (file === null) return null;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`--system-prompt-file: ${file} cannot be read (${systemCode(error) ?? messageOf(error)}).`);
  });
  if (text.trim() === '') throw new UsageError(`--system-prompt-file: ${file} is empty.`);
  if (Buffer.byteLength(text) > maxSystemPromptBytes)
    throw new UsageError(
      `--system-prompt-file: ${file} is over ${maxSystemPromptBytes / 1024} KiB (maxSystemPromptBytes).`,
    );
  return text;
}

function compactAtOf(given: Record<string, unknown>): number | null | undefined {
  const share = valueOf(given, 'compactThreshold');
  if (given['compact'] === false) {
    if (share !== null) throw new UsageError('--no-compact and --compact-threshold contradict each other.');
    return null;
  }
  if (share === null) return undefined;
  const value = Number(share);
  if (!(value >= 0.1 && value <= 0.95))
    throw new UsageError('--compact-threshold takes a share of the window, 0.1 to 0.95.');
  return value;
}

/** The one value of an option, or null where it was not given. */
function valueOf(given: Record<string, unknown>, name: string): string | null {
  const value = given[name];
  if (value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new UsageError(`--${name} takes one value.`);
}

async function follow(oneShot: OneShot, options: RunOptions, onTerminal: boolean): Promise<number> {
  const { agent } = oneShot;
  const mark = (params: object): CommandMark => ({ id: oneShot.newCommandId(), digest: digestOf(params) });
  const interrupt = () => void agent.abort(mark({ abort: true })).catch(() => undefined);
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const asking = onTerminal ? new Asker(() => oneShot.subAgents.all, mark) : null;
  oneShot.subAgents.heard = () => asking?.look();
  const turns = new Turns({ oneShot, options, onTerminal, mark, asking });
  try {
    let outcome = await turns.take(options.text);
    const { settings } = agent.conversation;
    // A model that only says its plan, and calls nothing, is taken at its word: the review is the same.
    if (options.way.strategy === 'plan' && outcome === 'completed' && !turns.decided && settings.mode === 'plan') {
      const mode = options.way.accepts ?? (await asking?.review(answerOf(agent.conversation))) ?? null;
      if (mode !== null) {
        const settings = { mode };
        await agent.configure(settings, mark(settings));
        outcome = await turns.take('The plan is accepted. Carry it out.');
      }
    }
    await finish(options, agent.conversation, onTerminal);
    return exitCodes[outcome];
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    asking?.close();
  }
}

/** The turns of a run: each from its input to its end, with everything that comes meanwhile told. */
class Turns {
  /** A plan was accepted or dismissed. */
  decided = false;
  #seen: number;
  readonly #around;

  constructor(around: {
    oneShot: OneShot;
    options: RunOptions;
    onTerminal: boolean;
    mark: (params: object) => CommandMark;
    asking: Asker | null;
  }) {
    this.#around = around;
    const { session } = around.oneShot.agent;
    this.#seen = around.options.sessionFile === null || session.conversation.counts.turns === 0 ? 0 : session.seq;
  }

  async take(text: string): Promise<TurnOutcome> {
    const { agent } = this.#around.oneShot;
    const submitted = this.#around.mark({ text });
    const never = new AbortController().signal;
    await this.#around.oneShot.submit(text, submitted);
    for (let claimed = false; ;) {
      for (const event of await agent.session.read(this.#seen, 64 * 1024)) {
        this.#seen = event.seq;
        if (this.#around.options.json) process.stdout.write(`${JSON.stringify(event)}\n`);
        else tell(event, this.#around.onTerminal);
        if (event.type === 'plan.decided') this.decided = true;
        if (event.type === 'input.claimed') claimed ||= (event['inputIds'] as string[]).includes(submitted.id);
        if (claimed && event.type === 'turn.ended') return event['outcome'] as TurnOutcome;
      }
      await this.#accept();
      this.#around.asking?.look();
      await agent.session.changed(this.#seen, never);
    }
  }

  /** The plan was accepted beforehand. */
  async #accept(): Promise<void> {
    const { accepts } = this.#around.options.way;
    const open = this.#around.oneShot.agent.conversation.questions.find(isPlanReview);
    if (accepts === null || open === undefined) return;
    const option = open.options.findIndex(({ plan }) => plan === accepts);
    const reply = { questionId: open.questionId, option, by: 'command line' };
    await this.#around.oneShot.agent.reply(reply, this.#around.mark(reply));
  }
}

async function finish(options: RunOptions, conversation: Conversation, onTerminal: boolean): Promise<void> {
  const turn = conversation.turns.at(-1);
  // The exit code tells how the run ended, and it went on: what it may not do is said here.
  if (!onTerminal)
    for (const { display, outcome } of turn?.steps.flatMap((step) => step.calls) ?? [])
      if (outcome === 'denied')
        process.stderr.write(visible(`· Denied: ${display.title} ${display.target?.split('\n')[0] ?? ''}\n`));
  if (turn?.failure) process.stderr.write(`alcove: ${turn.failure.message}\n`);
  if (options.json) return;
  await printAnswer(conversation);
}

/** What a person should know; on a terminal also a calm line for each tool call. */
function tell(event: SessionEvent, onTerminal: boolean): void {
  if (onTerminal && event.type === 'tool-call.requested') {
    const { title, target } = event['display'] as { title: string; target?: string };
    process.stderr.write(visible(`· ${title} ${target?.split('\n')[0] ?? ''}\n`));
  }
  if (event.type === 'step.retried') {
    const { message } = event['reason'] as { message: string };
    process.stderr.write(`· ${message} Trying again in ${Math.ceil((event['delayMs'] as number) / 1000)} s.\n`);
  }
  if (event.type === 'warning.raised') process.stderr.write(`· ${event['message'] as string}\n`);
}
