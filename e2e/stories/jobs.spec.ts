/** Commands that run on in the background: a person sees that they run and what they print, and ends them. */
import { chatReply, expect, test } from '../support/test.ts';

const serve = { tool: 'bash', arguments: { command: 'echo listening; sleep 600', background: true } };

test('OR9: a job shows above the composer while it runs, says what it printed, and is stopped there', async ({
  app,
  provider,
}) => {
  provider.enqueue(chatReply({ calls: [serve] }), chatReply({ text: 'It runs.' }), chatReply({ text: 'So I see.' }));
  await app.chooseMode('Auto');
  await app.say('Serve it.');
  await app.sees('It runs.');
  const jobs = app.page.getByRole('region', { name: 'Background jobs' });
  await expect(jobs).toContainText('1 job runs');
  await jobs.getByRole('button', { name: /1 job runs/ }).click();
  await jobs.getByRole('button', { name: /^echo listening; sleep 600/ }).click();
  await expect(jobs.getByLabel('Output of job_1')).toHaveText('listening');

  await app.page.reload();
  await jobs.getByRole('button', { name: /1 job runs/ }).click();
  await jobs.getByRole('button', { name: 'Stop job_1' }).click();
  await expect(jobs).toContainText('1 job ended');
  await expect(jobs).toContainText('stopped');

  await app.say('I stopped it.');
  await app.sees('So I see.');
  await expect(jobs).toHaveCount(0);
  expect(JSON.stringify(provider.requests[2]?.body.messages)).toContain('The background job job_1 was stopped by');
});
