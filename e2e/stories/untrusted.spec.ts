/** What models, tools and files say is text, whatever it holds. */
import { chatReply, expect, test } from '../support/test.ts';

test.use({ sample: 'hostile' });

const hostile = [
  '<img src=x onerror="document.title=\'owned\'">',
  '<svg><script>document.title="owned"</script></svg>',
  '[a link](javascript:document.title="owned")',
  '\\`<b onmouseover=alert(1)>bold</b>\\`',
  '    ```\n    <iframe srcdoc="<script>parent.document.title=1</script>"></iframe>\n    ```',
  '![picture](http://tracker.example/pixel.png)',
  '[outside](https://example.com/page)',
];

test('C26 PM16: hostile text of the model, of a command and of a file name stays text', async ({ app, provider }) => {
  const asked: string[] = [];
  app.page.on('request', (request) => asked.push(request.url()));
  app.page.on('dialog', (dialog) => {
    asked.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  provider.enqueue(
    chatReply({
      text: hostile.join('\n\n'),
      calls: [
        { tool: 'read', arguments: { path: 'README.md' } },
        { tool: 'bash', arguments: { command: 'cat README.md; ls; printf "\\033[31mred\\033[0m\\n"' } },
      ],
    }),
    chatReply({ text: 'Seen it all.' }),
  );
  await app.chooseMode('Auto');
  await app.say('Show me <b>everything</b>.');
  await app.sees('Seen it all.');
  await app.sees('Show me <b>everything</b>.');

  expect(await app.page.title()).not.toContain('owned');
  const dangerous = app.conversation.locator('script, iframe, object, [onerror], [onmouseover], a[href^="javascript"]');
  await expect(dangerous).toHaveCount(0);
  await expect(app.conversation.locator('img[src*="tracker"]')).toHaveCount(0);
  const link = app.conversation.getByRole('link', { name: 'outside' });
  await expect(link).toHaveAttribute('rel', /noopener/);
  await expect(link).toHaveAttribute('target', '_blank');
  expect(asked.filter((url) => /tracker|dialog/.test(url))).toEqual([]);
});
