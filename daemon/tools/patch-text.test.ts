import { describe, expect, test } from 'vitest';
import { parsePatch, PatchProblem } from './patch-text.ts';

const whole = `*** Begin Patch
*** Add File: new.txt
+one
+
+two
*** Delete File: old.txt
*** Update File: src/a.ts
*** Move to: src/b.ts
@@ class A
@@ run() {
 kept
-gone
+come
*** End of File
*** End Patch`;

const read = [
  { kind: 'add', path: 'new.txt', content: 'one\n\ntwo\n' },
  { kind: 'delete', path: 'old.txt' },
  {
    kind: 'update',
    path: 'src/a.ts',
    movedTo: 'src/b.ts',
    hunks: [
      {
        anchors: ['class A', 'run() {'],
        lines: [
          { sign: ' ', text: 'kept' },
          { sign: '-', text: 'gone' },
          { sign: '+', text: 'come' },
        ],
        atEnd: true,
      },
    ],
  },
];

describe('the text of a patch', () => {
  test.each([
    ['as it is defined', whole],
    ['with a line feed at its end', `${whole}\n`],
    ['with CRLF', whole.replaceAll('\n', '\r\n')],
    ['in a heredoc', `<<'EOF'\n${whole}\nEOF\n`],
    ['in the heredoc of a command', `apply_patch <<"PATCH"\n${whole}\nPATCH`],
    ['in a fence', `\`\`\`diff\n${whole}\n\`\`\``],
    ['without its last marker', whole.replace('\n*** End Patch', '')],
    ['without its last marker in a heredoc', `<<EOF\n${whole.replace('\n*** End Patch', '')}\nEOF`],
    ['without its first marker', whole.replace('*** Begin Patch\n', '')],
    ['with spaces behind the markers', whole.replace('End Patch', 'End Patch  ').replace('of File', 'of File ')],
    ['with space between its files', whole.replace('*** Delete', '\n*** Delete').replace('*** Update', '\n*** Update')],
  ])('TL8: %s', (_, text) => {
    expect(parsePatch(text)).toEqual(read);
  });

  const update = (hunk: string) => parsePatch(`*** Begin Patch\n*** Update File: a\n${hunk}\n*** End Patch`)[0];

  test('TL8: the first hunk needs no @@, an empty line stands for an empty unchanged one, numbers after @@ say nothing', () => {
    expect(update(' a\n\n-b\n@@ -1,2 +1,2 @@ f()\n-c')).toMatchObject({
      hunks: [
        { anchors: [], lines: [{ text: 'a' }, { sign: ' ', text: '', bare: true }, { sign: '-', text: 'b' }] },
        { anchors: [], lines: [{ sign: '-', text: 'c' }] },
      ],
    });
  });

  test('TL8: lines of content that look like markers are content', () => {
    expect(update('+*** End Patch\n-*** Delete File: x\n @@ y')).toMatchObject({
      hunks: [
        {
          lines: [
            { sign: '+', text: '*** End Patch' },
            { sign: '-', text: '*** Delete File: x' },
            { sign: ' ', text: '@@ y' },
          ],
        },
      ],
    });
  });

  test.each([
    ['', /is empty/],
    ['hello', /must begin with "\*\*\* Begin Patch"/],
    ['*** Begin Patch\n*** End Patch', /changes nothing/],
    ['*** Begin Patch\n*** Update File:\n+a\n*** End Patch', /names no path/],
    ['*** Begin Patch\n*** Update File: a\n*** End Patch', /has no hunk/],
    ['*** Begin Patch\n*** Update File: a\n@@\n a\n*** End Patch', /no line with "-" or "\+"/],
    ['*** Begin Patch\n*** Update File: a\n@@\n-a\nb\n*** End Patch', /in line 5 \("b"\)/],
    ['*** Begin Patch\n*** Add File: a\nhello\n*** End Patch', /every line of a new file begins with "\+"/],
    ['*** Begin Patch\n*** Rename File: a\n*** End Patch', /a file's header is expected/],
    ['*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** Begin Patch', /put all files into one patch/],
    ['*** Begin Patch\n*** Delete File: a\n*** Update File: b\n@@\n-a\nand so on', /in line 6 \("and so on"\)/],
    ['*** Begin Patch\n*** Add File: a\n+\0\n*** End Patch', /NUL/],
  ])('TL8: %j is refused in words', (text, problem) => {
    expect(() => parsePatch(text)).toThrow(PatchProblem);
    expect(() => parsePatch(text)).toThrow(problem);
  });
});
