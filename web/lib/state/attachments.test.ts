import { beforeEach, expect, it } from 'vitest';
import { RequestError } from '#protocol/errors.ts';
import type { Image } from '#protocol/values/content.ts';
import { memoryStorage } from '../testing/memory-storage.ts';
import { AttachmentsState, type PreparePicture } from './attachments.svelte.ts';

const image: Image = {
  type: 'image',
  blob: { sha256: 'a'.repeat(64), bytes: 9 },
  mediaType: 'image/png',
  name: 'fern.png',
};
const fern = new File(['png'], 'fern.png', { type: 'image/png' });
const ivy = new File(['ivy'], 'ivy.txt', { type: 'text/plain' });

let storage = memoryStorage();
let prepare: PreparePicture;
const open = () => new AttachmentsState(storage, 'mac', 'ses', (file) => prepare(file));

beforeEach(() => {
  storage = memoryStorage();
  prepare = () => Promise.resolve({ part: image, note: null });
});

it('UI22: what is attached is there in the next visit, and gone once it was submitted', async () => {
  const before = open();
  await before.add([fern, ivy]);
  const after = open();
  expect(after.parts).toEqual([image, { type: 'text', text: 'ivy', name: 'ivy.txt' }]);
  after.drop([image]);
  expect(open().parts).toEqual([{ type: 'text', text: 'ivy', name: 'ivy.txt' }]);
});

it('says what is under way, and what was done to a picture', async () => {
  let answer = (_: { part: Image; note: string | null }): void => undefined;
  prepare = () => new Promise((resolve) => (answer = resolve));
  const attachments = open();
  const added = attachments.add([fern]);
  expect([attachments.coming, attachments.parts]).toEqual([['fern.png'], []]);
  answer({ part: image, note: 'Scaled down to 1568 x 900.' });
  await added;
  expect([attachments.coming, attachments.parts, attachments.notes]).toEqual([
    [],
    [image],
    ['fern.png: Scaled down to 1568 x 900.'],
  ]);
});

it('PR18: what is refused costs nothing that is attached, and says why', async () => {
  const attachments = open();
  await attachments.add([ivy]);
  prepare = () => Promise.reject(new RequestError('invalid_params', 'It is no picture.'));
  await attachments.add([
    fern,
    new File(['x'.repeat(50 * 1024 + 1)], 'long.txt'),
    new File([new Uint8Array([0xff, 0xfe, 0])], 'program'),
    new File([''], 'empty.txt'),
  ]);
  expect(attachments.parts).toEqual([{ type: 'text', text: 'ivy', name: 'ivy.txt' }]);
  expect(attachments.problems.toSorted()).toEqual([
    'empty.txt is empty, so it was not attached.',
    'fern.png: It is no picture.',
    'long.txt is too large to attach: 51 KB, and a text may have 50 KB. Write its path instead, and the agent reads what it needs of it.',
    'program is neither a picture, a PDF nor plain text, so it cannot be attached. Write its path instead.',
  ]);
});

it('PR18: a folder that is dropped is refused, and the files after it are taken', async () => {
  const folder = new File(['x'], 'seeds');
  folder.arrayBuffer = () => Promise.reject(new DOMException('gone', 'NotFoundError'));
  const attachments = open();
  await attachments.add([folder, ivy]);
  expect([attachments.parts.length, attachments.coming, attachments.problems]).toEqual([
    1,
    [],
    ['seeds cannot be read: it is a folder, or it is gone. Write its path instead.'],
  ]);
});

it('PR18: the eleventh is left out, and the ten are kept', async () => {
  const attachments = open();
  await attachments.add(Array.from({ length: 11 }, (_, place) => new File(['x'], `${place}.txt`)));
  expect([attachments.parts.length, attachments.problems]).toEqual([
    10,
    ['A message takes 10 attachments at most. One was left out.'],
  ]);
});
