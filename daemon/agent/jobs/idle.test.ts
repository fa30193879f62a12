/** Sessions that nobody watches are closed after a while; one whose job runs is not. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { idleSessionMs } from '../../base/limits.ts';
import { calls, ended, says } from '../../testing/agent-on.ts';
import { agentsIn } from '../../testing/agents-in.ts';
import { until } from '../../testing/session-with.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { sessionIdOf, temporaryHome } from '../../testing/temporary-home.ts';
import { FileQueue } from '../../tools/file-queue.ts';
import { builtInTools } from '../../tools/registry.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

test('OR9: a session is kept open while a job of it runs, and closed once it has ended', async () => {
  const script = [calls(['bash', { command: 'sleep 300', background: 'true' }]), says('It runs.')];
  const made = await agentsIn(await temporaryHome(), script, { tools: builtInTools(new FileQueue()) });
  const folder = temporaryFolder();
  await made.agents.create({ ...made.request(1, 'go'), folder, mode: 'auto' }, made.ids.mark());
  const agent = await made.agents.agent(sessionIdOf(1));
  await until(agent.session, ended());
  const open = async () => (await made.agents.opened()).map(({ sessionId }) => sessionId);
  const afterAWhile = async () => {
    made.clock.advance(2 * idleSessionMs);
    vi.advanceTimersByTime(idleSessionMs);
  };
  await afterAWhile();
  await afterAWhile();
  expect(await made.agents.moving()).toEqual([sessionIdOf(1)]);
  expect(await open()).toEqual([sessionIdOf(1)]);

  await agent.stopJob('job_1', 'phone', made.ids.mark());
  await expect
    .poll(async () => {
      await afterAWhile();
      return open();
    })
    .toEqual([]);
});
