/** Which tools an agent has, by who it works for: a sub-agent asks no person, and the deepest starts no others. */
import type { SessionFacts } from '#protocol/conversation/conversation.ts';
import { maxAgentDepth } from '../base/limits.ts';
import type { Tool } from '../tools/tool.ts';

export function offeredTo(
  { spawned }: Pick<SessionFacts, 'spawned'>,
  tools: readonly Tool[],
  subAgents: boolean,
): readonly Tool[] {
  const deep = (spawned?.depth ?? 0) >= maxAgentDepth;
  return tools.filter(
    (tool) => !(tool.forPeople === true && spawned !== null) && !(tool.startsAgents === true && (deep || !subAgents)),
  );
}
