import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as prettier from 'prettier';
import { reference } from './reference.ts';

const file = new URL('../../docs/reference.md', import.meta.url);

it('the reference says what the tables say', async () => {
  const config = await prettier.resolveConfig(file);
  const text = await prettier.format(reference(), { ...config, parser: 'markdown' });
  if (process.env['UPDATE_REFERENCE'] === '1') writeFileSync(file, text);
  const whatToDo =
    'A table has changed: UPDATE_REFERENCE=1 npx vitest run e2e/reference writes docs/reference.md anew.';
  expect(readFileSync(file, 'utf8'), whatToDo).toBe(text);
});
