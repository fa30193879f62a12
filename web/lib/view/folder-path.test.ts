import { expect, it } from 'vitest';
import { inside, joined, shortPath, typedFolder } from './folder-path.ts';

it('writes the home folder as ~, and no folder whose name only begins like it', () => {
  const short = (path: string) => shortPath(path, '/home/kim');
  expect([short('/home/kim'), short('/home/kim/code'), short('/home/kimberly'), shortPath('/a', '/')]).toEqual([
    '~',
    '~/code',
    '/home/kimberly',
    '/a',
  ]);
});

it('goes into a folder by one slash', () => {
  expect([inside('~'), inside('~/code/'), inside('/')]).toEqual(['~/', '~/code/', '/']);
});

it('knows what could be made: a whole path below the root or the home', () => {
  expect(['~/new', ' /srv/new/ ', 'new', '~', '/', '~/', '//'].map(typedFolder)).toEqual([
    '~/new',
    '/srv/new',
    null,
    null,
    null,
    null,
    null,
  ]);
});

it('joins what is there', () => {
  expect([joined(['git', null]), joined([null, null]), joined(['a', 'b'])]).toEqual(['git', '', 'a · b']);
});
