import { expect, it } from 'vitest';
import { visible } from './visible.ts';

it('PM2: a command that is up for approval on a terminal cannot hide, reorder or overwrite what it says', () => {
  expect(visible('echo safe\u001b[2K\rrm -rf x')).toBe('echo safe\\u{1b}[2K\\u{d}rm -rf x');
  expect(visible('echo \u202Egnirts\u202C')).toBe('echo \\u{202e}gnirts\\u{202c}');
  expect(visible('pay\u200Bload')).toBe('pay\\u{200b}load');
});

it('leaves lines, tabs and letters of every script as they are', () => {
  expect(visible('a\tb\nÄ 漢字 👍')).toBe('a\tb\nÄ 漢字 👍');
});
