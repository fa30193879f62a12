/**
 * One execution of a tool, bounded in time. Promises:
 *   B1  it ends within `abortGraceMs` of the turn's signal, whatever the tool does
 *   B2  a tool without a deadline of its own is told to stop after `toolBackstopMs`, and left behind where it does not (TL31)
 *   B3  a tool that throws fails its call, and a tool that is left behind can change no more of it
 */
import { messageOf } from '../base/errors.ts';
import { abortGraceMs, toolBackstopMs } from '../base/limits.ts';
import type { PreparedCall, ToolEnvironment, ToolResult } from '../tools/tool.ts';

/** Null: the turn was stopped, and the tool did not end. */
export async function runBounded(
  prepared: PreparedCall,
  environment: ToolEnvironment,
  signal: AbortSignal,
  ownDeadline: boolean,
): Promise<ToolResult | null> {
  const overdue = new AbortController();
  const backstop = ownDeadline ? undefined : setTimeout(() => overdue.abort('overdue'), toolBackstopMs);
  const work = run(prepared, environment, AbortSignal.any([signal, overdue.signal]));
  try {
    const result = await Promise.race([
      work,
      afterGrace(signal, work).then(() => null),
      afterGrace(overdue.signal, work).then(() => 'overdue' as const),
    ]);
    if (result !== 'overdue') return overdue.signal.aborted && result?.outcome !== 'completed' ? late(result) : result;
    return late(null);
  } finally {
    clearTimeout(backstop);
  }
}

function late(result: ToolResult | null): ToolResult {
  const text = `The tool did not end within ${toolBackstopMs / 60_000} minutes (toolBackstopMs) and was stopped. It may have had some of its effects. Look before you repeat it.`;
  return { outcome: 'failed', content: [...(result?.content ?? []), { type: 'text', text }] };
}

async function run(prepared: PreparedCall, environment: ToolEnvironment, signal: AbortSignal): Promise<ToolResult> {
  try {
    return await prepared.execute(environment, signal);
  } catch (error) {
    return { outcome: 'failed', content: [{ type: 'text', text: `The tool failed: ${messageOf(error)}` }] };
  }
}

/** Resolves once the signal has been aborted for `abortGraceMs` and the work has still not ended; else never. */
function afterGrace(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const begin = () => {
      timer = setTimeout(resolve, abortGraceMs);
    };
    if (signal.aborted) begin();
    else signal.addEventListener('abort', begin, { once: true });
    void work.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', begin);
    });
  });
}
