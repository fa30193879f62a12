/** `alcove rules list`, `rules add DECISION TOOL PATTERN`, `rules remove ID`: the standing answers of the project in this folder. */
import type { Rule } from '#protocol/commands/approval.ts';
import type { Params } from '#protocol/command.ts';
import type { CommandId, ProjectId, RuleId } from '#protocol/values/ids.ts';
import { realpath } from 'node:fs/promises';
import { systemClock } from '../base/clock.ts';
import { SystemIds } from '../base/ids.ts';
import { Running } from './running.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';
import { visible } from './visible.ts';

const usage = 'Use "alcove rules list", "alcove rules add allow|ask|deny TOOL PATTERN" or "alcove rules remove ID".';

export async function rules(around: Surroundings, action: string, words: readonly string[]): Promise<number> {
  const commandId = () => new SystemIds(systemClock).uuid7() as CommandId;
  const [first, tool, pattern] = words;
  switch (action) {
    case 'list': {
      if (first !== undefined) throw new UsageError(usage);
      const running = await Running.find(around.home);
      const project = await projectHere(running, around.folder);
      const { rules: all } = await running.call('rule.list', { projectId: project });
      if (all.length === 0) process.stdout.write('This project has no rules.\n');
      for (const rule of all) process.stdout.write(`${line(rule)}\n`);
      return 0;
    }
    case 'add': {
      const decision = first === 'allow' || first === 'ask' || first === 'deny' ? first : null;
      if (decision === null || !tool || !pattern || words.length > 3)
        throw new UsageError(`${usage} Quote the pattern.`);
      const running = await Running.find(around.home);
      const project = await projectHere(running, around.folder);
      const params: Params<'rule.add'> = { commandId: commandId(), projectId: project, tool, pattern, decision };
      process.stdout.write(`${line((await running.call('rule.add', params)).rule)}\n`);
      return 0;
    }
    case 'remove': {
      if (first === undefined || tool !== undefined) throw new UsageError(usage);
      const running = await Running.find(around.home);
      await running.call('rule.remove', { commandId: commandId(), ruleId: first as RuleId });
      process.stdout.write('Removed; this counts from the next call.\n');
      return 0;
    }
    default:
      throw new UsageError(usage);
  }
}

async function projectHere(running: Running, folder: string): Promise<ProjectId> {
  const here = await realpath(folder);
  const { projects } = await running.call('project.list', {});
  const found = projects.find((one) => one.path === here);
  if (found === undefined) throw new UsageError(`${folder} is no project of Alcove. Open it in the app first.`);
  return found.projectId;
}

/** "exactly": it came of "always", and means that one call. */
function line({ ruleId, decision, tool, pattern }: Rule): string {
  return `${ruleId}  ${decision ?? 'allow exactly'}  ${visible(tool)}  ${visible(pattern)}`;
}
