/** Handlers of the rule.* commands. */
import type { CommandName, Params, Result } from '#protocol/command.ts';
import type { Rules } from './rules.ts';

type Handled = Extract<CommandName, `rule.${string}`>;
export type RuleHandlers = { readonly [Name in Handled]: (params: Params<Name>) => Promise<Result<Name>> };

export function ruleHandlers(rules: Rules): RuleHandlers {
  return {
    'rule.list': async ({ projectId }) => ({ rules: rules.list(projectId) }),
    'rule.add': async ({ projectId, tool, pattern, decision }) => ({
      rule: await rules.write(projectId, { tool, pattern, decision }),
    }),
    'rule.remove': async ({ ruleId }) => {
      await rules.remove(ruleId);
      return {};
    },
  };
}
