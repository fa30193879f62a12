/**
 * One walk through every screen that a person can meet, and every error, provoked for real. Takes pictures and judges nothing: they are for
 * eyes. The README's pictures are two of them.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page, TestInfo } from '@playwright/test';
import { deflateSync, crc32 } from 'node:zlib';
import { startJsonServer } from '../../daemon/testing/json-server.ts';
import { canMount } from '../support/mounts.ts';
import { canBeOffline } from '../support/no-network.ts';
import { chatReply, errorReply, expect, followedBy, test } from '../support/test.ts';

const shots = fileURLToPath(new URL('../../test-results/screens', import.meta.url));

async function shoot(page: Page, testInfo: TestInfo, name: string): Promise<void> {
  const path = join(shots, name, `${testInfo.project.name}.png`);
  await mkdir(dirname(path), { recursive: true });
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path, animations: 'disabled' });
}

const call = (tool: string, args: Record<string, unknown>) => ({ tool, arguments: args });
const bash = (command: string) => call('bash', { command });

test.describe('before anything is set up', () => {
  test.use({ configured: false });

  test('first minutes', async ({ newcomer, daemon, scratch }, testInfo) => {
    const { page } = newcomer;
    const shot = (name: string) => shoot(page, testInfo, name);
    await page.goto(daemon.address);
    await expect(page.getByRole('heading', { name: /Pair this browser/ })).toBeVisible();
    await shot('01-pair');
    await page.getByLabel('Pairing code').fill('AAAA-AAAA');
    await page.getByRole('button', { name: 'Pair', exact: true }).click();
    await expect(page.getByRole('alert')).toBeVisible();
    await shot('02-pair-wrong-code');
    await newcomer.pair();
    await shot('03-first-run');

    await mkdir(join(scratch, 'orchard', 'apples', '.git'), { recursive: true });
    await mkdir(join(scratch, 'orchard', 'pears'), { recursive: true });
    await page.getByRole('button', { name: 'Choose another' }).click();
    const field = page.getByRole('combobox', { name: 'Folder on this machine' });
    await field.fill(`${scratch}/orchard/`);
    await expect(page.getByRole('option', { name: /^apples/ })).toBeVisible();
    await shot('04-folder');
    await field.fill('~');
    await expect(page.getByRole('alert')).toBeVisible();
    await shot('05-folder-caution');
    await field.fill(daemon.home);
    await expect(page.getByRole('alert')).toContainText('own home');
    await shot('06-folder-refused');
    await field.fill(`${scratch}/orchard/plums`);
    await expect(page.getByRole('button', { name: /^Make this folder/ })).toBeVisible();
    await shot('07-folder-make');
    await page.keyboard.press('Escape');
    await newcomer.openOfferedFolder();
    await shot('08-start');

    await newcomer.modelButton.click();
    await expect(page.getByRole('combobox', { name: 'Search the models' })).toBeVisible();
    await shot('09-models-none-connected');
    await page.getByRole('dialog').getByRole('button', { name: 'Connect a provider' }).click();
    await expect(page.getByRole('button', { name: /^Anthropic/ })).toBeVisible();
    await shot('10-connect');
    await page.getByRole('button', { name: /^Anthropic/ }).click();
    await expect(page.getByLabel('Key', { exact: true })).toBeVisible();
    await shot('11-connect-form');
  });
});

test('a key is tried', async ({ app, daemon }, testInfo) => {
  const { page } = app;
  const shot = (name: string) => shoot(page, testInfo, name);
  const vendor = await startJsonServer((_path, headers) =>
    headers.authorization === 'Bearer sk-good-0000'
      ? { body: { object: 'list', data: [{ id: 'fern-1' }, { id: 'fern-2' }] } }
      : {
          status: 401,
          body: {
            error: { message: 'Incorrect API key provided: sk-bad****. You can find your API key in your account.' },
          },
        },
  );
  const work = { format: 'openai-chat', baseUrl: `${vendor.url}/v1`, keyEnv: 'WORK_KEY' };
  const down = { format: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1', keyEnv: 'DOWN_KEY' };
  await writeFile(join(daemon.home, 'settings.json'), JSON.stringify({ providers: { work, down } }), { mode: 0o600 });
  await app.modelButton.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Connect a provider' }).click();
  await page.getByRole('button', { name: /^work/ }).click();
  await page.getByLabel('Key', { exact: true }).fill('sk-bad-0000');
  await page.getByRole('button', { name: 'Try and store' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await shot('12-connect-refused');
  await page.getByLabel('Key', { exact: true }).fill('sk-good-0000');
  await page.getByRole('button', { name: 'Try and store' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'accepted the key' })).toBeVisible();
  await shot('13-connect-accepted');
  await page
    .getByRole('button', { name: 'Back' })
    .or(page.getByRole('button', { name: /All providers/ }))
    .first()
    .click();
  await page.getByRole('button', { name: /^down/ }).click();
  await page.getByLabel('Key', { exact: true }).fill('sk-some-0000');
  await page.getByRole('button', { name: 'Try and store' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await shot('14-connect-unreachable');
  await vendor.close();
});

test('the picker of models', async ({ app, daemon }, testInfo) => {
  const { page } = app;
  const shot = (name: string) => shoot(page, testInfo, name);
  await app.modelButton.click();
  await shot('15-models');
  await page.getByRole('combobox', { name: 'Search the models' }).fill('secnod');
  await expect(page.getByText(/Nearest/)).toBeVisible();
  await shot('16-models-typo');
  await page.keyboard.press('Escape');
  // A catalogue of hundreds, as with a key of a router of models.
  await daemon.call('model.list', {});
  await page.getByRole('button', { name: /^Mode: / }).click();
  await shot('17-modes');
});

test('a turn', async ({ app, provider, folder }, testInfo) => {
  const { page } = app;
  const shot = (name: string) => shoot(page, testInfo, name);
  await writeFile(join(folder, 'bed.png'), png(640, 400));
  const patch = [
    '*** Begin Patch',
    '*** Update File: notes.md',
    '@@',
    '-Roses',
    '+Roses, cut back in March',
    '*** Add File: winter.md',
    '+# Winter',
    '+',
    '+Cover the ferns before the first frost.',
    '*** End Patch',
  ].join('\n');
  provider.enqueue(
    chatReply({
      reasoning: 'The notes first, then the picture of the bed.',
      text: 'I will look at the notes and at the picture of the bed before I change anything.',
      calls: [
        call('read', { path: 'notes.md' }),
        call('grep', { pattern: 'Roses' }),
        call('read', { path: 'bed.png' }),
      ],
      usage: { prompt_tokens: 2100, completion_tokens: 120 },
    }),
    chatReply({ text: 'Two files need a change.', calls: [call('apply_patch', { patch })] }),
    chatReply({ calls: [bash('ls -1 && wc -l notes.md winter.md')] }),
    chatReply({ calls: [bash('rm -rf old-beds')] }),
    chatReply({
      text: [
        'Done: **notes.md** says when the roses are cut, and **winter.md** holds the plan.\n\n',
        '| plant | when |\n| --- | --- |\n| Roses | March |\n| Ferns | before frost |\n\n',
        '```ts\nexport const frost = (day: Date) => day.getMonth() > 9;\n```\n',
      ],
    }),
  );
  await app.say('Write down when the roses are cut, and make a plan for winter.');
  await expect(app.approval).toBeVisible();
  await shot('20-approval-patch');
  await app.allowOnce();
  await expect(app.approval.getByText(/wc -l/)).toBeVisible();
  await shot('21-approval-command');
  await app.allowOnce();
  await expect(app.approval.getByText(/rm -rf old-beds/)).toBeVisible();
  await shot('22-approval-caution');
  await app.deny();
  await expect(app.conversation.getByText(/holds the plan/)).toBeVisible();
  await shot('23-done');
  await app.conversation.evaluate((log) => (log.scrollTop = 0));
  await shot('24-done-top');

  provider.enqueue(followedBy(chatReply({ text: ['The beds are ', 'ready for '], finish: null }), { act: 'hang' }));
  await app.say('And the beds?');
  await expect(app.conversation.getByText(/ready for/)).toBeVisible();
  await shot('25-streaming');
  await app.composer.fill('mind the frost');
  await page.keyboard.press('Alt+Enter');
  await expect(page.getByText('mind the frost')).toBeVisible();
  await app.composer.fill('then water the ferns, every second day, and tell me which of them look pale');
  await page.keyboard.press('Alt+Enter');
  await expect(page.getByText(/water the ferns/)).toBeVisible();
  await shot('26-queued');
  await page.getByRole('button', { name: 'Pause' }).click();
  await shot('27-pausing');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
  await shot('28-stopped');

  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([
      { name: 'bed.png', mimeType: 'image/png', buffer: png(640, 400) },
      { name: 'beds.csv', mimeType: 'text/csv', buffer: Buffer.from('bed,plant\n1,roses\n') },
    ]);
  await expect(page.getByText('beds.csv')).toBeVisible();
  await shot('29-attached');
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([{ name: 'long.txt', mimeType: 'text/plain', buffer: Buffer.alloc(60 * 1024, 'a') }]);
  await shot('30-attachment-refused');
  await app.showSessions();
  await shot('31-sessions');
  if (app.phone) await page.getByRole('link', { name: 'More' }).click();
  else await page.goto(new URL('/more', page.url()).href);
  await expect(page.getByRole('heading', { name: 'More', level: 1 })).toBeVisible();
  await shoot(page, testInfo, '32-more');
  await page.mouse.wheel(0, 4000);
  await page.evaluate(() => document.querySelector('main')?.scrollTo(0, 100_000));
  await shot('33-more-end');
});

test('errors of a provider', async ({ app, provider }, testInfo) => {
  const { page } = app;
  const shot = (name: string) => shoot(page, testInfo, name);
  const fail = async (name: string, reply: ReturnType<typeof errorReply>, words: RegExp) => {
    provider.enqueue(reply);
    await app.say(`What about ${name.slice(3).replaceAll('-', ' ')}?`);
    await expect(app.conversation.getByText(words).last()).toBeVisible();
    await shot(name);
  };
  await fail(
    '40-bad-key',
    errorReply(401, { message: 'Incorrect API key provided', code: 'invalid_api_key' }),
    /answered 401/,
  );
  await fail(
    '41-no-credit',
    errorReply(429, { message: 'You exceeded your current quota, please check your plan', code: 'insufficient_quota' }),
    /no credit left/,
  );
  await fail(
    '42-model-gone',
    errorReply(404, { message: 'The model does not exist', code: 'model_not_found' }),
    /answered 404/,
  );
  await fail(
    '43-context-full',
    errorReply(400, { message: "This model's maximum context length is 8192 tokens", code: 'context_length_exceeded' }),
    /larger than this model can read/,
  );
  await fail('44-reply-cut', chatReply({ text: 'Half a sen', finish: null }), /before it was complete/);
  provider.enqueue(errorReply(529, { message: 'Overloaded' }, { 'retry-after': '30' }));
  await app.say('What about patience?');
  await expect(page.getByText(/Overloaded/).last()).toBeVisible();
  await shot('45-retrying');
  await page.getByRole('button', { name: 'Stop' }).click();
});

test('a provider that is down', async ({ app, provider }, testInfo) => {
  await provider.close();
  await app.say('Is anybody there?');
  await expect(app.page.getByText(/cannot be reached/).first()).toBeVisible();
  await shoot(app.page, testInfo, '46-provider-down-retrying');
  await expect(app.page.getByRole('button', { name: 'Try again' })).toBeVisible({ timeout: 40_000 });
  await shoot(app.page, testInfo, '47-provider-down');
});

test('a daemon that is gone, a session that is missing, a damaged one, a revoked device', async ({
  app,
  daemon,
  provider,
}, testInfo) => {
  const { page } = app;
  const shot = (name: string) => shoot(page, testInfo, name);
  provider.enqueue(chatReply({ text: 'Roses, ferns and moss.' }));
  await app.say('What grows here?');
  await app.sees('Roses, ferns and moss.');
  const here = page.url();
  await page.goto(here.replace(/ses_.*/, 'ses_01940000-0000-7000-8000-000000000001'));
  await expect(page.getByText(/no such session/i).first()).toBeVisible();
  await shot('50-session-missing');
  await daemon.addDamagedLog();
  await page.goto(here);
  await daemon.call('session.list', {});
  await page.goto(here.replace(/ses_.*/, 'ses_01940000-0000-7000-8000-0000000000ff'));
  await expect(page.getByText(/damaged/i).first()).toBeVisible();
  await shot('51-session-damaged');
  await page.goto(here);
  await app.sees('Roses, ferns and moss.');
  await daemon.kill();
  await expect(page.getByText(/does not answer/)).toBeVisible();
  await shot('52-daemon-gone');
  await app.composer.fill('I write this on the train.');
  await page.getByRole('button', { name: 'Send' }).click();
  await shot('53-unsent');
  await daemon.start();
  await expect(page.getByText(/does not answer/)).toHaveCount(0, { timeout: 20_000 });
  const { devices } = await daemon.call('device.list', {});
  for (const device of devices)
    await daemon.call('device.revoke', {
      commandId: (await import('../support/daemon.ts')).newCommandId(),
      deviceId: device.deviceId,
    });
  await expect(page.getByRole('heading', { name: /[Pp]air/ }).first()).toBeVisible();
  await shot('54-revoked');
});

test('a daemon that never answered', async ({ app, daemon }, testInfo) => {
  const { page } = app;
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload();
  await daemon.kill();
  await page.goto(daemon.address);
  await expect(page.getByText(/does not answer/).first()).toBeVisible();
  await shoot(page, testInfo, '55-start-without-daemon');
});

test.describe('on a machine without a network', () => {
  test.skip(!canBeOffline, 'no namespace without a network can be made here');
  test.use({ offlineDaemon: true });

  test('no network', async ({ app }, testInfo) => {
    await app.say('Is anybody there?');
    await expect(app.page.getByRole('button', { name: 'Try again' })).toBeVisible({ timeout: 40_000 });
    await shoot(app.page, testInfo, '48-no-network');
  });
});

test.describe('on a small disk', () => {
  test.skip(!canMount, 'nobody may mount a small disk here');
  test.use({ diskBytes: 4 * 1024 * 1024 });

  test('a full disk', async ({ app, page, provider, disk }, testInfo) => {
    provider.enqueue(chatReply({ text: 'Roses.' }));
    await app.say('What grows here?');
    await app.sees('Roses.');
    disk?.fill();
    await app.composer.fill(`And this? ${await readFile('/proc/sys/kernel/random/uuid', 'utf8')} ${noise()}`);
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(page.getByText(/no space left|could not be written/).first()).toBeVisible();
    await shoot(page, testInfo, '56-disk-full');
    disk?.makeSpace();
  });
});

/** What no compression makes short. */
function noise(): string {
  return Array.from({ length: 1500 }, () => Math.random().toString(36).slice(2)).join('');
}

/** A picture of a garden bed, as far as a few lines can paint one. */
function png(width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = y * (1 + width * 3) + 1 + x * 3;
      const soil = y > height * 0.55;
      const plant = !soil && Math.abs(((x + 20) % 80) - 40) < (y - height * 0.2) / 6;
      const [r, g, b] = soil ? [110 - (y % 9), 80, 60] : plant ? [70, 140 - (x % 30), 80] : [205, 225, 235];
      rows.set([r, g, b], at);
    }
  }
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const frame = Buffer.alloc(body.length + 8);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(crc32(body), body.length + 4);
    return frame;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

test('what is asked', async ({ app, provider }, testInfo) => {
  const shot = (name: string) => shoot(app.page, testInfo, name);
  const todos = [
    { text: 'Look at the beds', state: 'done' },
    { text: 'Choose the moss', state: 'doing' },
    { text: 'Plant it', state: 'open' },
  ];
  const options = [{ label: 'The north bed', description: 'It is shady there' }, { label: 'The south bed' }];
  const plan =
    '## Moss in the north bed\n\n1. Add lichen to `notes.md`.\n2. Water on Mondays.\n\nChecked by reading the notes.';
  provider.enqueue(
    chatReply({ calls: [call('todo', { todos })] }),
    chatReply({ calls: [call('ask_user', { question: 'Which bed gets the moss?', options })] }),
    chatReply({ calls: [call('propose_plan', { plan })] }),
    chatReply({ text: 'Carried out.' }),
  );
  await app.chooseMode('Plan');
  await app.say('Think of the moss.');
  await expect(app.approval).toContainText('Which bed');
  await shot('60-question');
  await app.approval.getByRole('button', { name: /^The north bed/ }).click();
  await expect(app.approval).toContainText('Go on with this plan?');
  await shot('61-plan');
  await app.approval.getByRole('button', { name: /^Accept, run by itself/ }).click();
  await app.sees('Carried out.');
  await app.page.getByRole('region', { name: 'Tasks' }).getByRole('button').click();
  await shot('62-tasks');
});

test('a check of what was changed', async ({ app, provider, folder, scratch }, testInfo) => {
  const shot = (name: string) => shoot(app.page, testInfo, name);
  const settings = join(scratch, 'home', 'settings.json');
  const said = JSON.parse(await readFile(settings, 'utf8')) as object;
  await writeFile(
    settings,
    JSON.stringify({ ...said, checks: { [folder]: 'echo "2 weeds found"; grep -q Moss notes.md' } }),
  );
  const write = (content: string) => call('write', { path: 'notes.md', content });
  provider.enqueue(
    chatReply({ calls: [call('read', { path: 'notes.md' })] }),
    chatReply({ calls: [write('Roses\n')] }),
    chatReply({ text: 'Roses only.' }),
    chatReply({ calls: [write('Roses\nMoss\n')] }),
    chatReply({ text: 'And moss, as the check wants it.' }),
  );
  await app.chooseMode('Auto');
  await app.say('Tidy the notes.');
  await app.sees('And moss, as the check wants it.');
  await expect(app.conversation.getByRole('button', { name: /^Check .* passed$/ })).toBeVisible();
  await app.conversation.getByRole('button', { name: /^Check .* failed$/ }).click();
  await shot('68-checks');
});

test('background jobs', async ({ app, provider }, testInfo) => {
  const shot = (name: string) => shoot(app.page, testInfo, name);
  const background = (command: string) => call('bash', { command, background: true });
  provider.enqueue(
    chatReply({
      calls: [background('echo "ready on http://localhost:5173"; sleep 600'), background('echo three beds; exit 3')],
    }),
    chatReply({ text: 'Both run in the background.' }),
  );
  await app.chooseMode('Auto');
  await app.say('Serve it, and count.');
  await app.sees('Both run in the background.');
  const jobs = app.page.getByRole('region', { name: 'Background jobs' });
  await expect(jobs).toContainText('1 job runs');
  await shot('66-jobs-line');
  await jobs.getByRole('button', { name: /1 job runs/ }).click();
  await jobs.getByRole('button', { name: /^echo "ready/ }).click();
  await expect(jobs.getByLabel('Output of job_1')).toHaveText('ready on http://localhost:5173');
  await shot('67-jobs-open');
});

test('a sub-agent', async ({ app, provider }, testInfo) => {
  const shot = (name: string) => shoot(app.page, testInfo, name);
  provider.enqueue(
    chatReply({ calls: [call('task', { description: 'Count the beds', prompt: 'Count the beds.' })] }),
    chatReply({ calls: [bash('echo three')] }),
    chatReply({ text: 'There are three beds.' }),
    chatReply({ text: 'Three, it says.' }),
  );
  await app.say('How many beds?');
  const asked = app.page.getByRole('region', { name: 'Count the beds waits for you' });
  await expect(asked).toBeVisible();
  await shot('63-sub-agent-asks');
  await asked.getByRole('button', { name: /^Allow once/ }).click();
  await app.sees('Three, it says.');
  await shot('64-sub-agent-done');
  await app.conversation.getByRole('link', { name: 'See its work' }).click();
  await app.sees('There are three beds.');
  await shot('65-sub-agent-own');
});
