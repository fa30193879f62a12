/** Background jobs, from outside: what a kill and an orderly end make of one that runs, and the command line that shows them. */
import { describe, expect, it } from 'vitest';
import { findMarked } from '../../daemon/base/process-table.ts';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { House, soundFold } from './house.ts';

const runs = async (pid: number, sessionId: string) => (await findMarked(sessionId)).includes(pid);

/** A session whose job has printed a line and runs. */
async function withJob(house: House) {
  await house.daemon.start();
  const command = 'echo $$ > pid; echo growing; exec sleep 600';
  house.provider.enqueue(
    chatReply({ calls: [{ tool: 'bash', arguments: { command, background: true } }] }),
    chatReply({ text: 'It grows.' }),
  );
  const sessionId = await house.session('auto', 'Let it grow.');
  expect(await (await house.follow(sessionId)).turnEnded()).toBe('completed');
  await expect.poll(() => house.pid('pid')).toBeGreaterThan(0);
  return { sessionId, pid: house.pid('pid') };
}

describe('a background job', () => {
  it('OR9: that a kill of the daemon left running is ended at the next start and marked as interrupted; what it printed is kept', async () => {
    const house = await House.open();
    const { sessionId, pid } = await withJob(house);
    await house.daemon.kill();
    expect(await runs(pid, sessionId)).toBe(true);
    await house.daemon.start();
    expect(await runs(pid, sessionId)).toBe(false);
    const conversation = soundFold(await house.exported(sessionId));
    expect(conversation.jobs).toMatchObject([
      { jobId: 'job_1', end: { outcome: 'interrupted', exitCode: null }, told: false },
    ]);
    expect(conversation.lastOutcome).toBe('completed');
    expect(await house.alcove(['jobs', 'read', sessionId, 'job_1']).ended()).toMatchObject({
      code: 0,
      stdout: 'growing\n',
      stderr: expect.stringContaining('interrupted') as string,
    });

    house.provider.enqueue(
      chatReply({ calls: [{ tool: 'bash', arguments: { command: 'true', background: true } }] }),
      chatReply({ text: 'Again.' }),
    );
    await house.submit(sessionId, 'Again.');
    expect(await (await house.follow(sessionId)).turnEnded(2)).toBe('completed');
    const { jobs } = soundFold(await house.exported(sessionId));
    expect(jobs.map(({ jobId }) => jobId)).toEqual(['job_1', 'job_2']);
  });

  it('OR9: is listed, read and stopped from the command line, and holds up an end of Alcove that would interrupt it', async () => {
    const house = await House.open();
    const { sessionId, pid } = await withJob(house);
    const listed = await house.alcove(['jobs']).ended();
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toMatch(new RegExp(`^${sessionId}  job_1  runs  echo .*sleep 600\n$`));
    const refused = await house.alcove(['stop']).ended();
    expect(refused.code).not.toBe(0);
    expect(await runs(pid, sessionId)).toBe(true);

    expect(await house.alcove(['jobs', 'stop', sessionId, 'job_1']).ended()).toMatchObject({ code: 0 });
    expect(await runs(pid, sessionId)).toBe(false);
    expect(await house.alcove(['jobs']).ended()).toMatchObject({ code: 0, stdout: 'No job runs.\n' });
    const again = await house.alcove(['jobs', 'stop', sessionId, 'job_1']).ended();
    expect(again.code).not.toBe(0);
    expect(again.stderr).toContain('job_1 has ended already.');
    expect((await house.alcove(['stop']).ended()).code).toBe(0);
  });
});
