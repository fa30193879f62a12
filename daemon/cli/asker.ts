/**
 * Who asks at the terminal of a run: approvals, questions and plans, one at a time, on standard error. What a person reads there is whole, or
 * they are told that it is not.
 */
import { createInterface } from 'node:readline/promises';
import type { OpenApproval, OpenQuestion } from '#protocol/conversation/conversation.ts';
import { isPlanReview } from '#protocol/conversation/open.ts';
import type { CommandMark } from '#protocol/event.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import { changesIn, type FileChange } from '#protocol/values/display.ts';
import type { Agent } from '../agent/agent.ts';
import { messageOf } from '../base/errors.ts';
import { visible } from './visible.ts';

export class Asker {
  /** The run's own, and its sub-agents. */
  readonly #agents: () => readonly Agent[];
  readonly #mark: (params: object) => CommandMark;
  readonly #lines = createInterface({ input: process.stdin, output: process.stderr });
  #asking = false;

  constructor(agents: () => readonly Agent[], mark: (params: object) => CommandMark) {
    this.#agents = agents;
    this.#mark = mark;
    // The line editor takes Ctrl+C from the terminal; it means the same as anywhere else.
    this.#lines.on('SIGINT', () => process.emit('SIGINT'));
  }

  look(): void {
    if (this.#asking) return;
    const agent = this.#agents().find(
      ({ conversation }) => conversation.approvals.length + conversation.questions.length > 0,
    );
    if (agent === undefined) return;
    const { approvals, questions, plan, session } = agent.conversation;
    const [approval] = approvals;
    const [question] = questions;
    const who = session?.spawned?.agent ?? null;
    if (who !== null) process.stderr.write(visible(`\n${who}, a sub-agent, asks:\n`));
    const asked =
      approval !== undefined
        ? this.#ask(agent, approval)
        : question !== undefined
          ? this.#question(agent, question, plan?.text ?? '')
          : null;
    if (asked === null) return;
    this.#asking = true;
    void asked
      .catch((error: unknown) => process.stderr.write(`alcove: ${messageOf(error)}\n`))
      .finally(() => {
        this.#asking = false;
        this.look();
      });
  }

  /** A plan that the model only said: in which mode it is carried out; null: it is not. */
  async review(plan: string): Promise<'ask' | 'auto' | null> {
    process.stderr.write(visible(`\n${plan}\n\nGo on with this plan?\n`));
    const said = await this.#lines.question('y accept, ask before changes, a accept, run by itself, n dismiss > ');
    switch (said.trim().toLowerCase()) {
      case 'y':
        return 'ask';
      case 'a':
        return 'auto';
      default:
        return null;
    }
  }

  close(): void {
    this.#lines.close();
  }

  async #ask(agent: Agent, open: OpenApproval): Promise<void> {
    const shown = await wholeRequest(open, (blob) => agent.session.readBlob(blob));
    const session = open.caution ? '' : ', s allow for this run';
    process.stderr.write(visible(`\n${open.title}:\n${shown}\n${open.reason}\n`));
    const said = (await this.#lines.question(`y allow once${session}, n deny > `)).trim().toLowerCase();
    const decision = said === 'y' || (said === 's' && !open.caution) ? 'allow' : 'deny';
    const scope = said === 's' && decision === 'allow' ? 'session' : 'once';
    const answer = { approvalId: open.approvalId, decision, scope, by: 'command line' } as const;
    await agent.answer(answer, this.#mark(answer));
  }

  async #question(agent: Agent, open: OpenQuestion, plan: string): Promise<void> {
    const shown = isPlanReview(open) ? `\n${plan}\n\n${open.text}` : `\n${open.text}`;
    const options = open.options.map(({ label, description }, place) =>
      description === undefined ? `  ${place + 1} ${label}` : `  ${place + 1} ${label}: ${description}`,
    );
    process.stderr.write(visible(`${[shown, ...options].join('\n')}\n`));
    for (let said = ''; ;) {
      said = (await this.#lines.question(options.length > 0 ? 'a number, or words > ' : '> ')).trim();
      if (said === '') continue;
      const [, number = '', rest = ''] = /^(\d+)(?:[\s:,]+(.*))?$/s.exec(said) ?? [];
      const option = number === '' ? -1 : Number(number) - 1;
      const chosen = open.options[option] !== undefined;
      const reply = chosen ? { option, ...(rest === '' ? {} : { text: rest }) } : { text: said };
      const answer = { questionId: open.questionId, ...reply, by: 'command line' };
      await agent.reply(answer, this.#mark(answer));
      return;
    }
  }
}

type ReadBlob = (blob: BlobRef) => Promise<Uint8Array | null>;

/** What is asked about, whole: the diffs, the command, or the arguments; a display that had to be cut is never shown in their place. */
async function wholeRequest({ preview, target, arguments: args }: OpenApproval, readBlob: ReadBlob): Promise<string> {
  const changes = changesIn(preview);
  if (changes.length > 0) return (await Promise.all(changes.map((change) => wholeChange(change, readBlob)))).join('\n');
  if (args === null)
    return `${target ?? ''}\n(The arguments are too long for a terminal: deny this, or answer it in the app.)`;
  return target !== null && Object.values(args).includes(target) ? target : JSON.stringify(args, null, 2);
}

async function wholeChange(
  { path, movedFrom, change, diff, diffBlob }: FileChange,
  readBlob: ReadBlob,
): Promise<string> {
  const moved = movedFrom === undefined ? '' : `${movedFrom} is moved to ${path}\n`;
  const stored = diffBlob === undefined ? null : await readBlob(diffBlob);
  const text = diff ?? (stored === null ? null : new TextDecoder().decode(stored));
  return moved + (text ?? `${path} is ${change}; its diff cannot be shown.`);
}
