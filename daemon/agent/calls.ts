/**
 * Tool calls of one step: approval, run in order, exactly one end each. Neighbouring calls that only look, and need no approval, overlap; all
 * others wait for the one before, since it may change what they would do. Each end is written when it is there. Invariants:
 *   T1  a call starts only after `tool-call.started` is durable, and that only after its approval
 *   T2  every call that was requested gets exactly one end, here or by closing.ts
 *   T3  a call that ignores its signal, or does not end, is left behind; the turn does not wait for it (bounded-run.ts)
 */
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { Draft } from '#protocol/event.ts';
import type { Todo } from '#protocol/events/work.ts';
import type { ResultPart } from '#protocol/values/content.ts';
import type { CallDetails } from '#protocol/values/display.ts';
import type { ApprovalId, CallId, StepId } from '#protocol/values/ids.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import type { CallOutcome } from '#protocol/values/outcome.ts';
import { messageOf } from '../base/errors.ts';
import { maxParallelSubAgents } from '../base/limits.ts';
import type { Assessment, Assignment, PreparedCall, Question, Tool, ToolEnvironment } from '../tools/tool.ts';
import { judge, type Verdict } from './approvals.ts';
import { boundedResult } from './bounded-result.ts';
import { runBounded } from './bounded-run.ts';
import { OutputWriter } from './output-writer.ts';
import { decideAsk } from './questions.ts';
import { repeatNote } from './repeats.ts';
import type { Allowed } from './rules.ts';
import { delegate, type DelegationPorts } from './sub-agents.ts';

export interface CallPorts extends DelegationPorts {
  /** Resolves when the conversation has gone on from `seq`; rejects when the signal aborts. */
  changed(seq: number, signal: AbortSignal): Promise<void>;
  readBlob(blob: BlobRef): Promise<Uint8Array | null>;
  tools: readonly Tool[];
  environment: Omit<ToolEnvironment, 'output' | 'jobs'>;
  jobs(callId: CallId): ToolEnvironment['jobs'];
  /** What the project's rules say just now. */
  rules(): readonly Allowed[];
  /** Where nobody answers questions: what such a call ends with; null (or where there is none): it is waited for. */
  noAnswer: ((plan: boolean) => string | null) | null;
  /** Where nobody can answer: what such a call is denied with (`caution`: no mode would let it run). Null where a person can. */
  unattended: ((caution: boolean) => string) | null;
}

/** Ends when every call has its end; rejects with the signal's reason on abort, leaving what is open to closing.ts. */
export async function runCalls(ports: CallPorts, stepId: StepId, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const calls = openCalls(ports, stepId);
    if (calls.length === 0) return;
    const looks: Bound[] = [];
    for (const call of calls) {
      const bound = await bind(ports, call);
      const agents = looks.filter((one) => one.verdict.verdict === 'agent').length;
      if (bound !== null && overlaps(bound) && agents < maxParallelSubAgents) looks.push(bound);
      else {
        if (looks.length === 0) await one(ports, call, bound, signal);
        break;
      }
    }
    // Looked at again from the top after each group: what ran may have changed what the next would do, and so its verdict.
    // All have come to their end before one's failure goes on: nothing may write behind the closing of the step.
    const looked = await Promise.allSettled(looks.map((bound) => carryOut(ports, bound, signal)));
    for (const one of looked) if (one.status === 'rejected') throw one.reason as Error;
  }
}

/** Only looks, or works elsewhere, where its calls are judged by themselves. */
function overlaps({ verdict, assessment }: Bound): boolean {
  return (
    verdict.verdict === 'agent' ||
    (verdict.verdict === 'run' && assessment?.effect === 'read' && assessment.inTurn !== true)
  );
}

async function carryOut(ports: CallPorts, { call, prepared, verdict }: Bound, signal: AbortSignal): Promise<void> {
  if (verdict.verdict !== 'agent') return execute(ports, call, prepared, signal);
  const { outcome, text, spent } = await delegate(ports, call, verdict.assignment, signal);
  return end(ports, call.callId, { outcome, content: [{ type: 'text', text }] }, spent);
}

interface Bound {
  call: ToolCall;
  prepared: PreparedCall;
  assessment: Assessment | null;
  verdict: Verdict | { verdict: 'question'; question: Question } | { verdict: 'agent'; assignment: Assignment };
}

function openCalls(ports: CallPorts, stepId: StepId): ToolCall[] {
  const step = ports.conversation().active?.step;
  return step?.stepId === stepId ? step.calls.filter((call) => call.state !== 'ended') : [];
}

/** Null where the call cannot be bound to a tool. */
async function bind(ports: CallPorts, call: ToolCall): Promise<Bound | null> {
  const prepared = await prepare(ports, call);
  if ('problem' in prepared) return null;
  const conversation = ports.conversation();
  const allowed = [...ports.rules(), ...conversation.grants];
  const assessment = await assess(prepared, {
    ...ports.environment,
    jobs: ports.jobs(call.callId),
    output: () => undefined,
  });
  const place = conversation.session?.project.name ?? 'this project';
  return {
    call,
    prepared,
    assessment,
    verdict:
      assessment.effect === 'question'
        ? { verdict: 'question', question: assessment.question }
        : assessment.effect === 'agent'
          ? { verdict: 'agent', assignment: assessment.assignment }
          : judge(assessment, call.tool, ports.mode(), allowed, place),
  };
}

async function assess(prepared: PreparedCall, environment: ToolEnvironment): Promise<Assessment> {
  try {
    return await prepared.assess(environment);
  } catch (error) {
    return { effect: 'refused', reason: `This call could not be judged: ${messageOf(error)}.` };
  }
}

async function prepare(ports: CallPorts, call: ToolCall): Promise<PreparedCall | { problem: string }> {
  const tool = ports.tools.find((one) => one.name === call.tool);
  if (tool === undefined)
    return { problem: `There is no tool "${call.tool}". Tools: ${ports.tools.map((one) => one.name).join(', ')}.` };
  let args: Record<string, unknown> | null = call.arguments;
  if (call.argumentsBlob !== null) {
    const bytes = await ports.readBlob(call.argumentsBlob);
    args = bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>);
  }
  if (args === null) return { problem: 'The arguments of this call are no longer stored. Call it again.' };
  const mode = ports.mode();
  // A question that is open is answered, whatever the mode became meanwhile.
  if (tool.modes?.includes(mode) === false && !isAsked(ports, call.callId))
    return { problem: `The mode is ${mode} now, which has no ${tool.name}. Go on without it.` };
  return tool.prepare(args);
}

/** Takes one call to its end, or to a question that is answered while we wait. */
async function one(ports: CallPorts, call: ToolCall, bound: Bound | null, signal: AbortSignal): Promise<void> {
  if (bound === null) {
    const prepared = await prepare(ports, call);
    const problem = 'problem' in prepared ? prepared.problem : 'The call could not be understood.';
    return end(ports, call.callId, { outcome: 'failed', content: [{ type: 'text', text: problem }] });
  }
  const { verdict } = bound;
  if (verdict.verdict === 'refuse')
    return end(ports, call.callId, { outcome: 'denied', content: [{ type: 'text', text: verdict.reason }] });
  if (verdict.verdict === 'agent') return carryOut(ports, bound, signal);
  if (verdict.verdict === 'question') return question(ports, call.callId, verdict.question, signal);
  if (call.approval?.decision === 'deny') return end(ports, call.callId, deniedBy(call));
  if (verdict.verdict === 'run' || isCovered(call, verdict)) {
    // A call that waited is started even where the mode was changed meanwhile to one that runs everything: only its answer counts.
    if (call.state === 'waiting') return waitForAnswer(ports, call.callId, signal);
    return execute(ports, call, bound.prepared, signal);
  }
  if (ports.unattended !== null) {
    const text = `${verdict.reason} ${ports.unattended(verdict.caution)}`;
    return end(ports, call.callId, { outcome: 'denied', content: [{ type: 'text', text }] });
  }
  if (call.state === 'requested') await ask(ports, call.callId, verdict);
  return waitForAnswer(ports, call.callId, signal);
}

/** The answer ends the call: see questions.ts. */
async function question(ports: CallPorts, callId: CallId, asked: Question, signal: AbortSignal): Promise<void> {
  const text = ports.noAnswer?.(asked.plan !== null) ?? null;
  if (text !== null) return end(ports, callId, { outcome: 'completed', content: [{ type: 'text', text }] });
  await ports.transact((conversation) => ({ events: decideAsk(conversation, callId, asked), result: undefined }));
  while (isAsked(ports, callId)) await ports.changed(ports.conversation().seq, signal);
}

function isAsked(ports: CallPorts, callId: CallId): boolean {
  return ports.conversation().questions.some((one) => one.callId === callId);
}

/**
 * A person's "allow" covers what they were shown. Where the world has moved since, so that the same call would now reach a protected place
 * or destroy something, it is asked again; what they changed themselves is their own word.
 */
function isCovered({ approval }: ToolCall, { caution }: Extract<Verdict, { verdict: 'ask' }>): boolean {
  return approval?.decision === 'allow' && (!caution || approval.caution || approval.changedArguments);
}

function deniedBy(call: ToolCall): CallEnd {
  const note = call.approval?.note;
  return {
    outcome: 'denied',
    content: [{ type: 'text', text: `Denied by the person; it did not run.${note ? ` They say: ${note}` : ''}` }],
  };
}

async function ask(ports: CallPorts, callId: CallId, verdict: Extract<Verdict, { verdict: 'ask' }>): Promise<void> {
  await ports.transact((conversation) => {
    const approvalId = `apr_${conversation.counts.approvals + 1}` as ApprovalId;
    const { reason, caution, rulePattern, preview } = verdict;
    return {
      events: [
        {
          type: 'approval.requested',
          approvalId,
          callId,
          reason,
          caution,
          rulePattern,
          ...(preview === null ? {} : { preview }),
        },
      ],
      result: undefined,
    };
  });
}

async function waitForAnswer(ports: CallPorts, callId: CallId, signal: AbortSignal): Promise<void> {
  for (;;) {
    const conversation = ports.conversation();
    if (!conversation.approvals.some((approval) => approval.callId === callId)) return;
    await ports.changed(conversation.seq, signal);
  }
}

async function execute(ports: CallPorts, call: ToolCall, prepared: PreparedCall, signal: AbortSignal): Promise<void> {
  await ports.transact(() => ({ events: [{ type: 'tool-call.started', callId: call.callId }], result: undefined }));
  const output = new OutputWriter(call.callId, (events) => ports.transact(() => ({ events, result: undefined })));
  let ended = false;
  const environment: ToolEnvironment = {
    ...ports.environment,
    jobs: ports.jobs(call.callId),
    output: (text) => {
      if (!ended) output.add(text);
    },
  };
  const ownDeadline = ports.tools.find((tool) => tool.name === call.tool)?.ownDeadline === true;
  const result = await runBounded(prepared, environment, signal, ownDeadline);
  ended = true;
  const last = await output.finish();
  if (result === null || (signal.aborted && result.outcome !== 'completed')) {
    // Closing writes this call's end, from the output that is durable by then. What was completed all the same keeps its result.
    if (last.length > 0) await ports.transact(() => ({ events: last, result: undefined }));
    signal.throwIfAborted();
  }
  if (result !== null) await end(ports, call.callId, result, last);
  signal.throwIfAborted();
}

interface CallEnd {
  outcome: CallOutcome;
  content: ResultPart[];
  details?: CallDetails;
  todos?: readonly Todo[];
}

/** Writes the call's end, with the last of its output in the same frame; a request for it that is still open is withdrawn, since no answer could reach it. */
async function end(ports: CallPorts, callId: CallId, result: CallEnd, before: Draft[] = []): Promise<void> {
  const bounded = await boundedResult(callId, result.content, (name) => ports.environment.spillFile(name));
  const call = ports.conversation().active?.step?.calls.find((one) => one.callId === callId);
  const note = call === undefined ? null : repeatNote(ports.conversation(), call, bounded);
  const content: ResultPart[] = note === null ? bounded : [...bounded, { type: 'text', text: note }];
  const { details, todos } = result;
  await ports.transact((conversation) => ({
    events: [
      ...before,
      ...conversation.approvals
        .filter((approval) => approval.callId === callId)
        .map(({ approvalId }) => ({
          type: 'approval.withdrawn' as const,
          approvalId,
          reason: 'The call ended without it, as things stand now.',
        })),
      ...conversation.questions
        .filter((one) => one.callId === callId)
        .map(({ questionId }) => ({
          type: 'question.withdrawn' as const,
          questionId,
          reason: 'The call ended without it, as things stand now.',
        })),
      ...(todos === undefined ? [] : [{ type: 'todo.replaced' as const, todos: [...todos] }]),
      {
        type: 'tool-call.ended',
        callId,
        outcome: result.outcome,
        content,
        ...(details === undefined ? {} : { details }),
      },
    ],
    result: undefined,
  }));
}
