/** Files and pictures that go along with a message. */
import { deflateSync } from 'node:zlib';
import { chatReply, expect, test } from '../support/test.ts';
import { pdfOf } from '../../daemon/testing/pdf.ts';
import { gate } from '../support/gate.ts';

const text = (name: string, content: string | Buffer, mimeType = 'text/plain') => ({
  name,
  mimeType,
  buffer: Buffer.from(content),
});

/** A png of one colour, of any size. */
function png(name: string, width: number, height: number) {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const whole = Buffer.alloc(body.length + 8);
    whole.writeUInt32BE(data.length, 0);
    body.copy(whole, 4);
    whole.writeUInt32BE(crc(body), body.length + 4);
    return whole;
  };
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const rows = Buffer.alloc(height * (width * 3 + 1), 0x55);
  for (let row = 0; row < height; row += 1) rows[row * (width * 3 + 1)] = 0;
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const buffer = Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
  return { name, mimeType: 'image/png', buffer };
}

function crc(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

test('UI22 PR17: a picture and a text that are attached survive a reload and a kill, and reach the model', async ({
  app,
  daemon,
  provider,
}) => {
  provider.enqueue(chatReply({ text: 'A grey square and a list.' }));
  await app.attach([png('fern.png', 40, 30), text('plants.txt', 'ivy\nmoss\n')]);
  await expect(app.attached.getByRole('button', { name: /^Remove/ })).toHaveCount(2);
  await app.composer.fill('What is this?');
  await app.page.reload();
  await daemon.restart();
  await expect(app.attached.getByRole('listitem')).toHaveText([/fern\.png/, /plants\.txt.*9 bytes/]);
  await expect(app.attached.locator('img')).toHaveCount(1);
  await expect(app.composer).toHaveValue('What is this?');
  await app.say('What is this?');
  await app.sees('A grey square and a list.');
  await expect(app.attached).toHaveCount(0);
  const sent = JSON.stringify(provider.requests[0]?.body.messages.findLast((message) => message.role === 'user'));
  expect(sent).toContain('data:image/png;base64,');
  expect(sent).toContain('plants.txt');
  expect(sent).toContain('ivy');
});

test('PR17: a message may be an attachment alone, and one that was removed is not sent', async ({ app, provider }) => {
  provider.enqueue(chatReply({ text: 'Only ivy.' }));
  await expect(app.page.getByRole('button', { name: 'Send' })).toBeDisabled();
  await app.attach([text('ivy.txt', 'ivy'), text('oak.txt', 'oak')]);
  await app.attached.getByRole('button', { name: 'Remove oak.txt' }).click();
  await app.page.getByRole('button', { name: 'Send' }).click();
  await app.sees('Only ivy.');
  const sent = JSON.stringify(provider.requests[0]?.body.messages);
  expect([sent.includes('ivy.txt'), sent.includes('oak.txt')]).toEqual([true, false]);
});

test('PR19: a PDF is attached, its text goes to a model that takes none, and it can be read again in the message', async ({
  app,
  provider,
}) => {
  provider.enqueue(chatReply({ text: 'It is about roses.' }));
  const pdf = {
    name: 'garden.pdf',
    mimeType: 'application/pdf',
    buffer: pdfOf(['Roses need sun', 'Ferns need shade']),
  };
  await app.attach([pdf, { ...pdf, name: 'broken.pdf', buffer: Buffer.from('%PDF-1.4 and no more') }]);
  await expect(app.attached.getByRole('listitem')).toHaveText([/garden\.pdf\s*2 pages/]);
  await expect(app.page.getByText(/broken\.pdf is a PDF that is broken/)).toBeVisible();
  await app.say('What is this about?');
  await app.sees('It is about roses.');
  const sent = JSON.stringify(provider.requests[0]?.body.messages.findLast((message) => message.role === 'user'));
  expect(sent).toContain('Ferns need shade');
  expect(sent).not.toContain('application/pdf');
  await expect(app.page.getByText('garden.pdf').first()).toBeVisible();
});

test('PR18: what is too large or neither text nor picture is refused in a sentence, and the draft stays', async ({
  app,
}) => {
  await app.composer.fill('Look at these.');
  await app.attach([
    text('long.txt', 'x'.repeat(60 * 1024)),
    text('program', Buffer.from([0, 159, 146, 150]), 'application/octet-stream'),
    text('fine.txt', 'fine'),
  ]);
  await expect(app.page.getByText(/long\.txt is too large to attach: 60 KB, and a text may have 50 KB/)).toBeVisible();
  await expect(app.page.getByText(/program is neither a picture, a PDF nor plain text/)).toBeVisible();
  await expect(app.attached.getByRole('listitem')).toHaveText([/fine\.txt/]);
  await expect(app.composer).toHaveValue('Look at these.');
});

test('PR17: a file that is pasted or dropped is attached @desktop', async ({ app }) => {
  const hand = (event: 'paste' | 'drop') =>
    app.composer.evaluate((field, type) => {
      const data = new DataTransfer();
      data.items.add(new File(['ivy'], `${type}.txt`, { type: 'text/plain' }));
      const init = { bubbles: true, cancelable: true };
      field.dispatchEvent(
        type === 'paste'
          ? new ClipboardEvent('paste', { ...init, clipboardData: data })
          : new DragEvent('drop', { ...init, dataTransfer: data }),
      );
    }, event);
  await hand('paste');
  await hand('drop');
  await expect(app.attached.getByRole('listitem')).toHaveText([/paste\.txt/, /drop\.txt/]);
});

test('PR17: a queued message keeps its attachment when its words are changed', async ({ app, provider }) => {
  const reading = gate();
  const first = chatReply({ text: ['One ', 'done.'] });
  provider.enqueue(
    { ...first, acts: [...first.acts.slice(0, 2), { act: 'until', gate: reading.opened }, ...first.acts.slice(2)] },
    chatReply({ text: 'Two done.' }),
  );
  await app.say('One.');
  await app.attach([text('ivy.txt', 'ivy')]);
  await app.say('Two, wrong.');
  const queued = app.page.getByRole('list', { name: 'Queued' });
  await expect(queued).toContainText('ivy.txt');
  await app.actOnQueued(0, 'Change it');
  const editor = queued.getByRole('textbox', { name: 'Change the queued message' });
  await expect(editor).toHaveValue('Two, wrong.');
  await editor.fill('Two, right.');
  await editor.press('Enter');
  await expect(queued).toContainText('Two, right.');
  reading.open();
  await app.sees('Two done.');
  const sent = JSON.stringify(provider.requests[1]?.body.messages);
  expect([sent.includes('Two, right.'), sent.includes('ivy.txt'), sent.includes('wrong')]).toEqual([true, true, false]);
});
