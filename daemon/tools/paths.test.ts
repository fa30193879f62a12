import { constants } from 'node:fs';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ToolScratch } from '../testing/tool-environment.ts';
import { findPlace, openPlace, PlaceMoved } from './paths.ts';
import { replaceFile } from './replace-file.ts';

let scratch: ToolScratch;
beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

async function standing(path: string): Promise<string> {
  const place = await findPlace(path, scratch.environment);
  return `${place.toRead.kind}/${place.toChange.kind}`;
}

describe('TL29: where a path leads', () => {
  test.each([
    ['src/a.ts', 'free/free'],
    ['new/folder/a.ts', 'free/free'],
    ['.', 'free/free'],
    ['a/../b', 'free/free'],
    ['.gitignore', 'free/free'],
    ['.github/dependabot.yml', 'free/free'],
    ['.env.example', 'free/free'],
    ['environment.ts', 'free/free'],
    ['..', 'asks/asks'],
    ['../other/a', 'asks/asks'],
    ['/etc/passwd', 'asks/asks'],
    ['~/notes.txt', 'asks/asks'],
    ['.env', 'asks/asks'],
    ['.ENV', 'asks/asks'],
    ['apps/web/.env.production', 'asks/asks'],
    ['certs/server.pem', 'asks/asks'],
    ['id_ed25519', 'asks/asks'],
    ['.ssh/config', 'asks/asks'],
    ['.npmrc', 'asks/asks'],
    ['.aws/credentials', 'asks/asks'],
    ['.github/workflows/ci.yml', 'free/asks'],
    ['.husky/pre-commit', 'free/asks'],
    ['.vscode/tasks.json', 'free/asks'],
    ['.gitmodules', 'free/asks'],
    ['.envrc', 'asks/asks'],
    ['web/.husky/pre-push', 'free/asks'],
    ['proc/1/environ', 'free/free'],
    ['.bashrc', 'free/asks'],
    ['.git', 'refused/refused'],
    ['.git/hooks/pre-commit', 'refused/refused'],
    ['vendor/lib/.git/config', 'refused/refused'],
    ['.GiT/config', 'refused/refused'],
    ['src/../.git/config', 'refused/refused'],
    ['/elsewhere/.git/config', 'refused/refused'],
  ])('%s is %s', async (path, expected) => expect(await standing(path)).toBe(expected));

  test("Alcove's home is refused by each of its names, and its spill files may be read", async () => {
    symlinkSync(scratch.home, scratch.path('store'));
    expect(await standing(scratch.home)).toBe('refused/refused');
    expect(await standing('../home/sessions/x')).toBe('refused/refused');
    expect(await standing('store/sessions/x')).toBe('refused/refused');
    expect(await standing(await scratch.environment.spillFile('x'))).toBe('free/refused');
    expect(await standing(join(scratch.home, 'spills', 'ses_2', 'x'))).toBe('refused/refused');
  });

  test('links are followed: out of the project, to a secret, in a chain, to nowhere, in a circle', async () => {
    symlinkSync('/etc', scratch.path('out'));
    symlinkSync('.env', scratch.path('config.txt'));
    symlinkSync('config.txt', scratch.path('again.txt'));
    symlinkSync('../nowhere', scratch.path('dangling'));
    symlinkSync('circle', scratch.path('circle'));
    symlinkSync('plain.txt', scratch.path('key.pem'));
    expect(await standing('out/hosts')).toBe('asks/asks');
    expect(await standing('config.txt')).toBe('asks/asks');
    expect(await standing('again.txt')).toBe('asks/asks');
    expect(await standing('dangling')).toBe('asks/asks');
    expect(await standing('circle')).toBe('free/free');
    expect(await standing('key.pem')).toBe('asks/asks');
    expect(await standing('out/../project/a')).toBe('asks/asks');
  });
});

describe('PM17: what was judged is what is opened', () => {
  test('a folder that became a link between check and open is refused', async () => {
    scratch.put('data/a.txt', 'inside');
    mkdirSync(join(scratch.root, 'data'));
    writeFileSync(join(scratch.root, 'data', 'a.txt'), 'outside');
    const place = await findPlace('data/a.txt', scratch.environment);
    expect(place.toRead.kind).toBe('free');
    renameSync(scratch.path('data'), scratch.path('moved'));
    symlinkSync(join(scratch.root, 'data'), scratch.path('data'));
    await expect(openPlace(place.real, constants.O_RDONLY)).rejects.toThrow(PlaceMoved);
    await expect(
      replaceFile(place.real, place.shown, Buffer.from('x'), Buffer.from('outside'), scratch.environment.temporaries),
    ).rejects.toThrow(PlaceMoved);
  });

  test('a file that became a link between check and open is refused', async () => {
    scratch.put('a.txt', 'inside');
    const place = await findPlace('a.txt', scratch.environment);
    renameSync(scratch.path('a.txt'), scratch.path('b.txt'));
    symlinkSync('/etc/hosts', scratch.path('a.txt'));
    await expect(openPlace(place.real, constants.O_RDONLY)).rejects.toThrow(PlaceMoved);
  });

  test('a plain file opens', async () => {
    scratch.put('a.txt', 'inside');
    const handle = await openPlace((await findPlace('a.txt', scratch.environment)).real, constants.O_RDONLY);
    expect(await handle.readFile('utf8')).toBe('inside');
    await handle.close();
  });
});
