/** What a screen shows of a call the model asked for: the tool's own words, or plain ones where the tool or its arguments are not known. */
import type { CallDisplay } from '#protocol/values/display.ts';
import type { ModelCall } from '../llm/item.ts';
import type { Tool } from '../tools/tool.ts';

/** A command or path that is shown in a list; the arguments hold the whole. */
const maxTarget = 16 * 1024;

export function displayOf(tools: readonly Tool[], call: ModelCall): CallDisplay {
  const tool = tools.find((one) => one.name === call.tool);
  if (tool === undefined)
    return { title: call.tool === '' ? 'Unnamed tool' : call.tool, kind: 'other', summary: 'no such tool' };
  if (call.problem !== null) return { title: call.tool, kind: 'other', summary: 'arguments not understood' };
  const prepared = tool.prepare(call.arguments);
  if ('problem' in prepared) return { title: call.tool, kind: 'other', summary: 'arguments not understood' };
  const { display } = prepared;
  return display.target !== undefined && display.target.length > maxTarget
    ? { ...display, target: `${display.target.slice(0, maxTarget)}…` }
    : display;
}
