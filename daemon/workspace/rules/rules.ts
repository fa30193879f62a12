/**
 * The standing answers of a person, by project and in order: what "always" allowed (a tool and the exact pattern that the approval showed), and
 * rules that they wrote. Listed, and revocable one by one. What a rule means is decided in agent/rules.ts.
 */
import { RequestError } from '#protocol/errors.ts';
import { rule as ruleSchema, type Rule } from '#protocol/commands/approval.ts';
import { z } from '#protocol/schema.ts';
import type { ProjectId, RuleId } from '#protocol/values/ids.ts';
import type { Clock } from '../../base/clock.ts';
import { maxRules } from '../../base/limits.ts';
import { newId, type Ids } from '../../base/ids.ts';
import { Store, type OpenedStore } from '../../base/store.ts';

const document = z.object({ rules: z.array(ruleSchema) });
type Document = z.infer<typeof document>;

export class Rules {
  readonly #store: Store<Document>;
  readonly #clock: Clock;
  readonly #ids: Ids;

  private constructor(store: Store<Document>, clock: Clock, ids: Ids) {
    this.#store = store;
    this.#clock = clock;
    this.#ids = ids;
  }

  static async open(
    path: string,
    clock: Clock,
    ids: Ids,
  ): Promise<{ rules: Rules; corrupt: OpenedStore<Document>['corrupt'] }> {
    const { store, corrupt } = await Store.open<Document>(path, document, { rules: [] }, clock);
    return { rules: new Rules(store, clock, ids), corrupt };
  }

  list(projectId?: ProjectId): Rule[] {
    return this.#store.value.rules.filter((one) => projectId === undefined || one.projectId === projectId);
  }

  /** Nothing changes where the rule is there already. */
  async add(projectId: ProjectId, allowed: { tool: string; pattern: string }): Promise<void> {
    await this.#store.update((value) => {
      const there = value.rules.some(
        (one) =>
          one.decision === undefined &&
          one.projectId === projectId &&
          one.tool === allowed.tool &&
          one.pattern === allowed.pattern,
      );
      if (there) return value;
      return {
        rules: [...value.rules, { ruleId: newId('rul', this.#ids), projectId, ...allowed, madeAt: this.#clock.now() }],
      };
    });
  }

  /** At the end, where it counts most; the same one that is there already moves. */
  async write(projectId: ProjectId, written: Required<Pick<Rule, 'tool' | 'pattern' | 'decision'>>): Promise<Rule> {
    const made: Rule = { ruleId: newId('rul', this.#ids), projectId, ...written, madeAt: this.#clock.now() };
    await this.#store.update(({ rules }) => {
      const others = rules.filter(
        (one) =>
          one.decision === undefined ||
          one.projectId !== projectId ||
          one.tool !== written.tool ||
          one.pattern !== written.pattern,
      );
      if (others.filter((one) => one.projectId === projectId).length >= maxRules)
        throw new RequestError(
          'too_large',
          `A project may have ${maxRules} rules (maxRules). Nothing was changed; remove one first.`,
        );
      return { rules: [...others, made] };
    });
    return made;
  }

  async remove(ruleId: RuleId): Promise<void> {
    if (!this.#store.value.rules.some((one) => one.ruleId === ruleId))
      throw new RequestError('not_found', 'There is no such rule any more.');
    await this.#store.update(({ rules }) => ({ rules: rules.filter((one) => one.ruleId !== ruleId) }));
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
