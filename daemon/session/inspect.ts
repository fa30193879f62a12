/** A read-only report of a log: what is in it, what is open, what is damaged. Repairs that opening would make are listed, not made. */
import { stat } from 'node:fs/promises';
import { atRest, openWork } from '#protocol/conversation/open.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { TurnOutcome } from '#protocol/values/outcome.ts';
import { titleOf } from '#protocol/conversation/status.ts';
import type { Damage } from '../log/reader.ts';
import { Diagnoser, reportedUsage, type Diagnosis, type ReportedUsage } from './diagnosis.ts';
import { History } from './history.ts';

export interface Inspection {
  file: string;
  bytes: number;
  /** Characters of the events as JSON Lines. */
  decoded: number;
  events: number;
  kinds: Record<string, number>;
  sessionId: string | null;
  title: string;
  folder: string | null;
  model: string | null;
  turns: Record<string, number>;
  steps: number;
  /** By tool, then by outcome. */
  calls: Record<string, Record<string, number>>;
  usage: ReportedUsage | null;
  open: {
    turn: string;
    step: string | null;
    calls: string[];
    approvals: string[];
    questions: string[];
    atRest: boolean;
  } | null;
  /** How the last turn that ended did so; null where none has. */
  lastOutcome: TurnOutcome | null;
  waitingInputs: number;
  damages: { from: number; to: number; torn: boolean; reason: string }[];
  anomalies: Conversation['anomalies'];
}

export async function inspectLog(file: string): Promise<Inspection> {
  return (await look(file, () => undefined)).inspection;
}

async function look(
  file: string,
  heard: (event: SessionEvent) => void,
): Promise<{ inspection: Inspection; conversation: Conversation }> {
  const { size } = await stat(file);
  const history = await History.open(file);
  try {
    const damages: Damage[] = [];
    const kinds: Record<string, number> = {};
    let events = 0;
    let decoded = 0;
    const conversation = await history.foldAll(
      ({ event, line }) => {
        events += 1;
        decoded += line.length + 1;
        kinds[event.type] = (kinds[event.type] ?? 0) + 1;
        heard(event);
      },
      (damage) => damages.push(damage),
    );
    const inspection = {
      file,
      bytes: size,
      decoded,
      events,
      kinds,
      ...facts(conversation),
      damages: damages.map(({ from, to, torn, reason }) => ({ from, to, torn, reason })),
    };
    return { inspection, conversation };
  } finally {
    await history.close();
  }
}

function facts(
  conversation: Conversation,
): Omit<Inspection, 'file' | 'bytes' | 'decoded' | 'events' | 'kinds' | 'damages'> {
  const { session } = conversation;
  const turns = conversation.active === null ? conversation.turns : [...conversation.turns, conversation.active];
  const steps = turns.flatMap((turn) => (turn.step === null ? turn.steps : [...turn.steps, turn.step]));
  const calls: Inspection['calls'] = {};
  for (const call of steps.flatMap((step) => step.calls)) {
    const byOutcome = (calls[call.tool] ??= {});
    const outcome = call.outcome ?? call.state;
    byOutcome[outcome] = (byOutcome[outcome] ?? 0) + 1;
  }
  const outcomes: Record<string, number> = {};
  for (const turn of turns) outcomes[turn.outcome ?? 'open'] = (outcomes[turn.outcome ?? 'open'] ?? 0) + 1;
  const open = openWork(conversation);
  return {
    sessionId: session?.sessionId ?? null,
    title: titleOf(conversation),
    folder: session?.folder ?? null,
    model: conversation.settings.model,
    turns: outcomes,
    steps: steps.length,
    calls,
    usage: reportedUsage(conversation),
    open:
      open === null
        ? null
        : {
            turn: open.turn.turnId,
            step: open.step?.stepId ?? null,
            calls: open.calls.map((call) => call.callId),
            approvals: open.approvals.map((approval) => approval.approvalId),
            questions: conversation.questions.map((question) => question.questionId),
            atRest: atRest(conversation),
          },
    lastOutcome: conversation.lastOutcome,
    waitingInputs: conversation.inbox.length,
    anomalies: conversation.anomalies,
  };
}

/** As `inspectLog`, with what went wrong and where the time went. */
export async function diagnoseLog(file: string): Promise<{ inspection: Inspection; diagnosis: Diagnosis }> {
  const diagnoser = new Diagnoser();
  const { inspection, conversation } = await look(file, (event) => diagnoser.hear(event));
  const torn = inspection.damages.some((damage) => damage.torn);
  return { inspection, diagnosis: diagnoser.result(conversation, torn) };
}

/** Every line that can be read, verbatim, in order; damage is told and passed over. */
export async function dumpLog(
  file: string,
  write: (line: string) => Promise<void>,
  damaged: (damage: Damage) => void,
): Promise<void> {
  const history = await History.open(file);
  try {
    for await (const { line } of history.stored({ offset: 0, seq: 0 }, 0, Infinity, damaged)) await write(line);
  } finally {
    await history.close();
  }
}
