import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maxFolderEntries } from '#protocol/commands/folder.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { Folders } from './folders.ts';

/** A person's home with a few folders, and the picker on it. */
function withHome(options: { projects?: string[]; recent?: string[] } = {}) {
  const userHome = temporaryFolder();
  const at = (...names: string[]) => join(userHome, ...names);
  const make = (...names: string[]) => {
    mkdirSync(at(...names), { recursive: true });
    return at(...names);
  };
  make('.alcove', 'sessions');
  make('code', 'Shop', '.git');
  make('code', 'shape');
  make('code', '.hidden');
  make('documents');
  writeFileSync(at('code', 'ship.txt'), '');
  const folders = new Folders({
    userHome,
    forbidden: at('.alcove'),
    projects: () => (options.projects ?? []).map((one) => at(one)),
    recent: () => (options.recent ?? []).map((one) => at(one)),
  });
  return { userHome, at, make, folders };
}
const names = (look: { entries: readonly { name: string }[] }) => look.entries.map((one) => one.name);

describe('looking while a path is typed', () => {
  it('completes the last name, in any case, and tells repositories and projects apart', async () => {
    const { folders, at } = withHome({ projects: ['code/shape'] });
    expect(await folders.look('~/code/sh')).toEqual({
      folder: at('code'),
      parent: dirname(at('code')),
      entries: [
        { name: 'shape', path: at('code', 'shape'), repository: false, project: true },
        { name: 'Shop', path: at('code', 'Shop'), repository: true, project: false },
      ],
      more: false,
      exact: null,
      caution: null,
      problem: null,
    });
  });

  it('lists a folder whose path ends in a slash; files and hidden names are left out, but for a typed dot', async () => {
    const { folders, at } = withHome();
    expect(names(await folders.look('~/code/'))).toEqual(['shape', 'Shop']);
    expect(names(await folders.look('~/code/.'))).toEqual(['.hidden']);
    expect((await folders.look('~/code')).exact).toBe(at('code'));
  });

  it('follows links to folders, and says where the typed path leads', async () => {
    const { folders, at } = withHome();
    symlinkSync(at('code'), at('work'));
    symlinkSync(at('nowhere'), at('dangling'));
    const look = await folders.look('~/work');
    expect([names(look), look.exact]).toEqual([['work'], at('code')]);
    expect(names(await folders.look('~/'))).not.toContain('dangling');
  });

  it('never names Alcove’s own home, and refuses it by a sentence', async () => {
    const { folders, at } = withHome();
    expect(names(await folders.look('~/.al'))).toEqual([]);
    const look = await folders.look('~/.alcove');
    expect([look.exact, look.problem]).toEqual([
      null,
      `${at('.alcove')} is Alcove's own home, which agents may not touch.`,
    ]);
  });

  it.each(['~', '~/', ''])('warns of the whole home folder (%j)', async (text) => {
    const { folders, userHome } = withHome();
    const look = await folders.look(text);
    expect(look.folder === userHome || look.folder === dirname(userHome)).toBe(true);
    expect(look.exact).toBe(userHome);
    expect(look.caution).toMatch(/whole home folder/);
  });

  it('warns of the root and of what the home is in, and of nothing else', async () => {
    const { folders, userHome } = withHome();
    expect((await folders.look('/')).caution).toMatch(/root of the whole file system/);
    expect((await folders.look(dirname(userHome))).caution).toMatch(/Your home folder is in here/);
    expect((await folders.look('~/code')).caution).toBeNull();
  });

  it('says what is wrong with a path that leads nowhere, to a file, or into what may not be read', async () => {
    const { folders, at, make } = withHome();
    expect((await folders.look('code')).problem).toMatch(/whole path/);
    expect((await folders.look('~/co\0de')).problem).toMatch(/whole path/);
    expect((await folders.look('~/nowhere/in')).problem).toBe(
      `There is no folder ${at('nowhere')}. Check the spelling, or make it.`,
    );
    expect((await folders.look('~/code/ship.txt')).problem).toMatch(/is a file/);
    expect((await folders.look('~/code/ship.txt/')).problem).toMatch(/is a file/);
    chmodSync(make('locked'), 0o000);
    const locked = await folders.look('~/locked/');
    chmodSync(at('locked'), 0o700);
    if (process.getuid?.() !== 0) expect(locked.problem).toMatch(/may not look into/);
  });

  it('tells so many names and no more', async () => {
    const { folders, make } = withHome();
    for (let count = 0; count < maxFolderEntries + 5; count += 1) make('many', `n${count}`);
    const look = await folders.look('~/many/');
    expect([look.entries.length, look.more, look.entries[2]?.name]).toEqual([maxFolderEntries, true, 'n2']);
  });
});

it('offers recent folders once each, without those that are gone', async () => {
  const { folders, userHome, at } = withHome({ recent: ['documents', 'gone', 'code/Shop', 'documents', '.alcove'] });
  expect(await folders.recent()).toEqual({
    folders: [
      { name: 'documents', path: at('documents'), repository: false, project: false },
      { name: 'Shop', path: at('code', 'Shop'), repository: true, project: false },
    ],
    home: userHome,
  });
});

describe('making a folder', () => {
  it('makes those above it too; one that is there is fine', async () => {
    const { folders, at } = withHome();
    expect(await folders.create('~/new/deep/')).toBe(at('new', 'deep'));
    expect(await folders.create('~/new/deep')).toBe(at('new', 'deep'));
  });

  it.each([
    ['new', /whole path/],
    ['~/code/ship.txt', /is a file/],
    ['~/code/ship.txt/in', /a part of the path is a file/],
    ['~/.alcove/mine', /own home/],
    [`~/${'n'.repeat(300)}`, /too long/],
    ['/proc/alcove-cannot/be', /cannot be made/],
  ])('refuses %s by a sentence', async (path, words) => {
    const { folders } = withHome();
    await expect(folders.create(path)).rejects.toThrow(words);
  });

  it('says whose rights are missing', async () => {
    const { folders, at, make } = withHome();
    chmodSync(make('readable'), 0o500);
    const made = folders.create('~/readable/new').then(
      (path) => basename(path),
      (error: unknown) => String(error),
    );
    expect(await made).toMatch(process.getuid?.() === 0 ? /^new$/ : /you may not write there/);
    chmodSync(at('readable'), 0o700);
  });
});
