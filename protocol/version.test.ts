import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { expect, it } from 'vitest';
import { commands, handshake } from './command.ts';
import { envelope, eventSchemas } from './event.ts';
import { notices } from './notices/notice.ts';
import type { Schema } from './schema.ts';
import { request } from './up.ts';
import { LOG_VERSION, PROTOCOL_VERSION } from './version.ts';

/** The schemas as they were when the versions beside them were decided. */
const pinned = {
  log: { version: 1, hash: '4d3fc64c3f61e35fd2fdfc65f82d677b18d098d4be884627a647ae7b713fdd96' },
  protocol: { version: '1.1', hash: '7d61026bfdc42c39ef1b88c691199f842a520ac60f7e1c7cf59352b0e174b5f1' },
};

const whatToDo = (file: string, now: object) => `
The schemas of the ${file} are not those that are pinned for this version. Decide which it is:
  compatible (a new optional field, kind, command or notice): raise the minor version of the protocol; a log's version stays;
  not compatible (a field that must be there, changed or gone): raise PROTOCOL_VERSION.major, or LOG_VERSION and teach the reader both.
Add the line to protocol/version.ts, say it in CHANGELOG.md, and pin what stands here now:
  ${JSON.stringify(now)}
While nothing is released yet, pinning anew is enough.`;

it('the schemas of events are those that LOG_VERSION stands for', () => {
  const now = { version: LOG_VERSION, hash: hashOf({ envelope, ...eventSchemas }) };
  expect(now, whatToDo('log', now)).toEqual(pinned.log);
});

it('the schemas of messages are those that PROTOCOL_VERSION stands for', () => {
  const sides = Object.entries({ ...commands, ...handshake }).flatMap(
    ([name, command]): [string, Schema<unknown>][] => [
      [`${name} params`, command.params],
      [`${name} result`, command.result],
    ],
  );
  const now = {
    version: `${PROTOCOL_VERSION.major}.${PROTOCOL_VERSION.minor}`,
    hash: hashOf({ request, ...Object.fromEntries(sides), ...notices }),
  };
  expect(now, whatToDo('protocol', now)).toEqual(pinned.protocol);
});

/** Sorted by name, so that moving a schema to another place of its file changes nothing. */
function hashOf(schemas: Record<string, Schema<unknown>>): string {
  const described = Object.keys(schemas)
    .toSorted()
    .map((name) => [name, z.toJSONSchema(schemas[name]!, { unrepresentable: 'any' })]);
  return createHash('sha256').update(JSON.stringify(described)).digest('hex');
}
