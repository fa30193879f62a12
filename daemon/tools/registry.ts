/** Which tools a session has. Built-in ones for now; a mode may offer fewer. */
import type { Mode } from '#protocol/values/model.ts';
import { applyPatchTool } from './apply-patch.ts';
import { bashTool } from './bash.ts';
import { gitTool } from './commands/git.ts';
import { jobTool } from './commands/job.ts';
import { editTool } from './edit.ts';
import type { FileQueue } from './file-queue.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { lsTool } from './ls.ts';
import { readTool } from './read.ts';
import type { Tool } from './tool.ts';
import { askUserTool } from './work/ask-user.ts';
import { proposePlanTool } from './work/propose-plan.ts';
import { taskTool } from './work/task.ts';
import { todoTool } from './work/todo.ts';
import { writeTool } from './write.ts';

/** In the order a model reads them. `queue` is the daemon's one, for all sessions. */
export function builtInTools(queue: FileQueue): readonly Tool[] {
  return [
    readTool,
    lsTool,
    globTool(),
    grepTool(),
    editTool(queue),
    writeTool(queue),
    applyPatchTool(queue),
    bashTool,
    gitTool,
    jobTool,
    todoTool,
    askUserTool,
    proposePlanTool,
    taskTool,
  ];
}

/** PM1: a plan can change nothing through any tool: those that could are not there, and bash runs only what is known to look (see approvals). */
export function toolsFor(mode: Mode, tools: readonly Tool[]): readonly Tool[] {
  const offered = tools.filter((tool) => tool.modes?.includes(mode) ?? true);
  switch (mode) {
    case 'plan':
      return offered.filter((tool) => tool.readOnly || tool.offeredInPlan === true);
    case 'ask':
    case 'auto':
      return offered;
  }
}
