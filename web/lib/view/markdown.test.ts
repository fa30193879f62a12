import { describe, expect, it } from 'vitest';
import { noMarkdown, renderMarkdown, type MarkdownText } from './markdown.ts';

const html = (text: string): string =>
  renderMarkdown(text, noMarkdown, true)
    .blocks.map((block) => (block.type === 'html' ? block.html : `[code ${block.language}]${block.code}`))
    .join('');
const grow = (text: string, pieces: number): MarkdownText => {
  let grown = noMarkdown;
  for (let piece = 1; piece <= pieces; piece++)
    grown = renderMarkdown(text.slice(0, (text.length * piece) / pieces), grown);
  return grown;
};

const text = [
  '# Plan',
  '',
  'I look at `src/cart.ts` **first**.',
  '',
  '- one',
  '- two',
  '',
  '```ts',
  'const x = 1;',
  '',
  'const y = 2;',
  '```',
  '',
  '| a | b |',
  '| - | - |',
  '| 1 | 2 |',
  '',
  'Done.',
].join('\n');

describe('growing text', () => {
  it('gives the same in the end as rendering at once', () => {
    for (const pieces of [1, 7, 40, text.length]) {
      const ended = renderMarkdown(text, grow(text, pieces), true);
      expect(ended.blocks).toEqual(renderMarkdown(text, noMarkdown, true).blocks);
    }
  });

  it('keeps every block but the last as it is', () => {
    const before = grow(text, 30);
    const after = renderMarkdown(`${text} And more.`, before);
    expect(after.blocks.slice(0, -1).every((block, index) => block === before.blocks[index])).toBe(true);
    expect(after.blocks.at(-1)).not.toBe(before.blocks.at(-1));
  });

  it('lexes only the tail', () => {
    expect(text.slice(grow(text, 30).frozen)).toBe('Done.');
  });

  it('a list goes on over a blank line', () => {
    let grown = noMarkdown;
    for (const part of ['- one\n', '- one\n\n', '- one\n\n- two']) grown = renderMarkdown(part, grown);
    expect(grown.blocks).toHaveLength(1);
  });

  it('keeps identity when it ends', () => {
    const before = grow(text, 30);
    const ended = renderMarkdown(text, before, true);
    expect(ended.blocks.every((block, index) => block === before.blocks[index])).toBe(true);
  });

  it('a fence that is still open is code already', () => {
    expect(renderMarkdown('```ts\nconst').blocks).toMatchObject([
      { type: 'code', language: 'ts', code: 'const', closed: false },
    ]);
    expect(renderMarkdown('```ts\nconst\n```').blocks).toMatchObject([{ type: 'code', closed: true }]);
  });

  it('a link that is defined later works when the text has ended', () => {
    const whole = 'See [docs][d].\n\n[d]: https://docs.example/x';
    const ended = renderMarkdown(whole, grow(whole, 10), true);
    expect(ended.blocks[0]).toMatchObject({ html: expect.stringContaining('href="https://docs.example/x"') as string });
  });
});

describe('C26: text of models and files is inert', () => {
  it.each([
    '<img src=x onerror=alert(1)>',
    '<svg><script>alert(1)</script></svg>',
    'text <b onclick=alert(1)>bold</b>',
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](data:text/html,<script>alert(1)</script>)',
    '[a](vbscript:x)',
    '![x](javascript:alert(1))',
    '<javascript:alert(1)>',
    '\\`<img src=x onerror=alert(1)>',
    '    ```\n    <script>alert(1)</script>\n    ```',
    '- item\n\n      <script>alert(1)</script>',
    '[a](https://x.example "t\\" onmouseover=\\"alert(1)")',
    '| <img src=x onerror=alert(1)> |\n| - |\n| <iframe src=//x> |',
    '<a href="https://x.example" style="position:fixed;inset:0">over all</a>',
    '<form action=https://x.example><input name=q></form>',
    '<!-- <img src=x onerror=alert(1)> -->',
    '<style>*{display:none}</style>',
    '`</code><img src=x onerror=alert(1)>`',
    '# <img src=x onerror=alert(1)>',
    '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  ])('%j', (hostile) => {
    const page = document.createElement('div');
    page.innerHTML = renderMarkdown(hostile, noMarkdown, true)
      .blocks.map((block) => (block.type === 'html' ? block.html : ''))
      .join('');
    const elements = [...page.querySelectorAll('*')];
    const allowed = /^(p|a|span|div|code|pre|ul|ol|li|table|thead|tbody|tr|th|td|h2|br)$/;
    expect(elements.filter((element) => !allowed.test(element.localName)).map((element) => element.localName)).toEqual(
      [],
    );
    const attributes = elements.flatMap((element) => [...element.attributes]);
    expect(attributes.filter((one) => /^(on|style|src|action|form)/.test(one.name)).map((one) => one.name)).toEqual([]);
    for (const link of page.querySelectorAll('a')) expect(link.getAttribute('href')).toMatch(/^(https?|mailto):/);
  });

  it('HTML is shown as it was written', () => {
    expect(html('a <b>c</b>')).toContain('a &lt;b&gt;c&lt;/b&gt;');
  });
});

describe('links', () => {
  it('PM16: open outside, without a way back, beside their true target', () => {
    expect(html('[docs](https://docs.example/a?b=1)')).toContain(
      '<a href="https://docs.example/a?b=1" title="https://docs.example/a?b=1" target="_blank" rel="noopener noreferrer">docs</a> <span class="link-target">docs.example</span>',
    );
  });

  it('that name their target need no second one', () => {
    expect(html('https://docs.example/a')).not.toContain('link-target');
    expect(html('[https://bank.example](https://evil.example)')).toContain(
      '<span class="link-target">evil.example</span>',
    );
  });

  it('to a name in another script show the name that is asked for', () => {
    expect(html('[x](https://аpple.example)')).toContain('xn--');
  });

  it('to a place in the project are no links', () => {
    expect(html('[cart](src/cart.ts)')).toContain('<span class="reference" title="src/cart.ts">cart</span>');
  });

  it('pictures are links, nothing is fetched', () => {
    expect(html('![chart](https://x.example/c.png)')).toContain('>chart</a>');
    expect(html('![chart](https://x.example/c.png)')).not.toContain('<img');
  });
});

it('tasks and tables can be read by all', () => {
  expect(html('- [x] done\n- [ ] open')).toContain('aria-label="not done"');
  expect(html('| a |\n| :-: |\n| 1 |')).toContain('<td class="center">1</td>');
});

describe('headings', () => {
  // In quotes, as happy-dom loses the first element of what is sanitised.
  const levels = (text: string): string[] =>
    [...html(text.replaceAll(/#+/g, '> text\n>\n> $&')).matchAll(/<h(\d)/g)].map((match) => match[1] ?? '');

  it.each([
    ['# a\n\n## b\n\n# c', ['2', '3', '2']],
    ['#### a\n\n###### b\n\n#### c\n\n# d', ['2', '3', '2', '2']],
    ['# a\n\n##### b\n\n### c', ['2', '3', '3']],
    ['# a\n\n## b\n\n### c\n\n#### d\n\n##### e\n\n###### f', ['2', '3', '4', '5', '6', '6']],
  ])('stand under the title of the page and skip no level: %j', (markdown, expected) => {
    expect(levels(markdown)).toEqual(expected);
  });

  it('have the level that they end with from the first token on', () => {
    const markdown = '### a\n\nx\n\n##### b\n\ny\n\n#### c\n\nz\n\n## d\n\nDone.';
    const before = grow(markdown, markdown.length);
    expect(renderMarkdown(markdown, before, true).blocks).toEqual(renderMarkdown(markdown, noMarkdown, true).blocks);
  });
});
