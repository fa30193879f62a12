/** The facts of an ended turn, in the order of interest. */
import type { Turn } from '#protocol/conversation/conversation.ts';
import { duration } from '../../view/time.ts';

export function turnFacts(turn: Turn): readonly string[] {
  const facts: string[] = [];
  if (turn.outcome === 'aborted') facts.push('stopped');
  if (turn.outcome === 'failed') facts.push('failed');
  if (turn.outcome === 'interrupted') facts.push('interrupted');
  if (turn.changed.length > 0) {
    const added = turn.changed.reduce((sum, file) => sum + file.added, 0);
    const removed = turn.changed.reduce((sum, file) => sum + file.removed, 0);
    facts.push(`${counted(turn.changed.length, 'file')} +${added} −${removed}`);
  }
  if (turn.calls > 0) facts.push(counted(turn.calls, 'tool'));
  if (turn.endedAt !== null) facts.push(duration(turn.endedAt - turn.startedAt));
  facts.push(...usageFacts(turn));
  return facts;
}

function usageFacts(turn: Turn): readonly string[] {
  if (turn.usage.steps === 0) return [];
  const tokens = turn.usage.input + turn.usage.output;
  if (tokens === 0 && turn.usage.unknownSteps > 0) return ['tokens unknown', 'cost unknown'];
  const atLeast = turn.usage.unknownSteps > 0 ? 'at least ' : '';
  const cost =
    turn.unknownCost === 0
      ? `$${turn.cost.toFixed(2)}`
      : turn.cost > 0
        ? `at least $${turn.cost.toFixed(2)}`
        : 'cost unknown';
  return [`${atLeast}${shortCount(tokens)} tokens`, cost];
}

export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 100_000) return `${(count / 1000).toFixed(1)}k`;
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
