/**
 * Reading, editing, writing and patching held against a plain model: a map of names to bytes, changed by string arithmetic. Two sessions with one
 * queue, as in one daemon, and somebody else who changes files behind their backs.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stepByStep } from '../testing/disk-steps.ts';
import { textOf, ToolScratch } from '../testing/tool-environment.ts';
import { applyPatchTool } from './apply-patch.ts';
import { editTool } from './edit.ts';
import { FileQueue } from './file-queue.ts';
import { readTool } from './read.ts';
import type { Tool, ToolResult } from './tool.ts';
import { writeTool } from './write.ts';

let scratch: ToolScratch;
beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

const queue = new FileQueue();
const [edit, write, patch] = [editTool(queue), writeTool(queue), applyPatchTool(queue)];

type Session = 0 | 1;
type Operation =
  | { kind: 'read'; session: Session; name: string }
  | { kind: 'write'; session: Session; name: string; content: string }
  | { kind: 'edit'; session: Session; name: string; edits: { oldText: string; newText: string; replaceAll: boolean }[] }
  | { kind: 'delete'; session: Session; name: string }
  /** By somebody else; null deletes. One character a byte. */
  | { kind: 'meanwhile'; name: string; bytes: string | null };

const names = ['a.txt', 'sub/b.txt', 'Cafe\u0301 1\u202fPM.txt'];
const name = fc.constantFrom(...names);
const session = fc.constantFrom<Session>(0, 1);
const words = fc.constantFrom(
  'a',
  'b',
  'aa',
  '$&',
  '$$',
  "$'",
  '$1',
  '\n',
  '\n\n',
  'é',
  'e\u0301',
  '😀',
  '\t',
  ' ',
  '\rz',
  '\\n',
);
const text = fc.array(words, { maxLength: 12 }).map((parts) => parts.join(''));
/** With Latin-1 bytes, a byte order mark and either line end. */
const bytes = fc
  .tuple(
    fc.array(fc.oneof(words.map(latin), fc.constantFrom('\xe9', '\xff ', '\xc3')), { maxLength: 12 }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([parts, mark, returns]) => (mark ? byteOrderMark : '') + withEnds(parts.join(''), returns));
const byteOrderMark = '\xef\xbb\xbf';

const operation = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read'), session, name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write'), session, name, content: text }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('edit'),
      session,
      name,
      edits: fc.array(fc.record({ oldText: fc.oneof(words, text), newText: text, replaceAll: fc.boolean() }), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), session, name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('meanwhile'), name, bytes: fc.option(bytes) }) },
) as fc.Arbitrary<Operation>;

function latin(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}

function withEnds(value: string, returns: boolean): string {
  return returns ? value.replaceAll('\n', '\r\n') : value;
}

/** What the operations should do: bytes as one character each. */
class Model {
  readonly files = new Map<string, string>();
  readonly #seen = [new Map<string, string>(), new Map<string, string>()] as const;

  /** Whether it is done. */
  apply(operation: Operation): boolean {
    if (operation.kind === 'meanwhile') {
      if (operation.bytes === null) this.files.delete(operation.name);
      else this.files.set(operation.name, operation.bytes);
      return true;
    }
    const seen = this.#seen[operation.session];
    const now = this.files.get(operation.name);
    const stale = now !== undefined && seen.has(operation.name) && seen.get(operation.name) !== now;
    switch (operation.kind) {
      case 'read':
        if (now === undefined) return false;
        seen.set(operation.name, now);
        return true;
      case 'write': {
        if (stale) return false;
        this.files.set(operation.name, latin(operation.content));
        seen.set(operation.name, latin(operation.content));
        return true;
      }
      case 'delete':
        if (now === undefined || stale) return false;
        this.files.delete(operation.name);
        return true;
      case 'edit': {
        const after = now === undefined || stale ? null : edited(now, operation.edits);
        if (after === null) return false;
        this.files.set(operation.name, after);
        seen.set(operation.name, after);
      }
    }
    return true;
  }
}

/** Null where the batch does not fit. */
function edited(file: string, edits: { oldText: string; newText: string; replaceAll: boolean }[]): string | null {
  const mark = file.startsWith(byteOrderMark) ? byteOrderMark : '';
  const returns = file.includes('\r\n');
  const plain = file.slice(mark.length).replaceAll('\r\n', '\n');
  const places: { start: number; end: number; text: string }[] = [];
  for (const { oldText, newText, replaceAll } of edits) {
    const old = latin(oldText);
    if (old === '') return null;
    const starts: number[] = [];
    for (let at = plain.indexOf(old); at !== -1; at = plain.indexOf(old, at + (replaceAll ? old.length : 1)))
      starts.push(at);
    if (starts.length === 0 || (starts.length > 1 && !replaceAll)) return null;
    for (const start of starts) places.push({ start, end: start + old.length, text: latin(newText) });
  }
  places.sort((a, b) => a.start - b.start);
  if (places.some((place, index) => index > 0 && place.start < (places[index - 1]?.end ?? 0))) return null;
  let [after, from] = ['', 0];
  for (const place of places) {
    after += plain.slice(from, place.start) + place.text;
    from = place.end;
  }
  const whole = mark + withEnds(after + plain.slice(from), returns);
  return whole === file ? null : whole;
}

/** Files in which lines end in two ways have rules of their own, which replacement.test.ts holds. */
function isMixed(file: string): boolean {
  return file.includes('\r\n') && /(?<!\r)\n/.test(file);
}

function numbered(file: string): string {
  const content = file.startsWith(byteOrderMark) ? file.slice(byteOrderMark.length) : file;
  if (content === '') return '(the file is empty)';
  const lines = content.replace(/\n$/, '').split('\n');
  const shown = (line: string) =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(line.replace(/\r$/, ''), 'latin1'));
  return lines.map((line, index) => `${index + 1}\t${shown(line)}`).join('\n');
}

/** As the model of a session names what is there: composed, with a plain space where it must be there. */
function typed(operation: Exclude<Operation, { kind: 'meanwhile' }>): string {
  const composed = operation.name.normalize('NFC');
  if (operation.kind !== 'write') return composed.replace('\u202f', ' ');
  return existsSync(scratch.path(operation.name)) ? composed : operation.name;
}

function carryOut(operation: Operation, seen: readonly Map<string, string>[]): Promise<ToolResult | null> {
  if (operation.kind === 'meanwhile') {
    if (operation.bytes === null) rmSync(scratch.path(operation.name), { force: true });
    else scratch.put(operation.name, Buffer.from(operation.bytes, 'latin1'));
    return Promise.resolve(null);
  }
  const call = callOf(operation);
  if ('problem' in call) throw new Error(call.problem);
  const environment = { ...scratch.environment, filesSeen: seen[operation.session] as Map<string, string> };
  return call.execute(environment, new AbortController().signal);
}

function callOf(operation: Exclude<Operation, { kind: 'meanwhile' }>): ReturnType<Tool['prepare']> {
  const path = typed(operation);
  switch (operation.kind) {
    case 'read':
      return readTool.prepare({ path });
    case 'write':
      return write.prepare({ path, content: operation.content });
    case 'edit':
      return edit.prepare({ path, edits: operation.edits });
    case 'delete':
      return patch.prepare({ patch: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` });
  }
}

function onDisk(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(scratch.folder, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .map((path): [string, string] => [path.slice(scratch.folder.length + 1), readFileSync(path, 'latin1')])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const asRecord = (model: Model) => Object.fromEntries([...model.files].toSorted());

describe('file tools do what a plain model of files does', () => {
  test('TL1 TL3 TL4 C08 C09: one after the other, in two sessions, with changes by somebody else', async () => {
    const tally = { done: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 14 }), async (operations) => {
        scratch.close();
        scratch = new ToolScratch();
        const model = new Model();
        const seen = [new Map<string, string>(), new Map<string, string>()];
        for (const one of operations) {
          if (one.kind === 'edit' && isMixed(model.files.get(one.name) ?? '')) continue;
          const done = model.apply(one);
          const result = await carryOut(one, seen);
          if (result !== null) {
            expect([one, textOf(result), result.outcome]).toEqual([one, textOf(result), done ? 'completed' : 'failed']);
            tally[done ? 'done' : 'refused'] += 1;
          }
          if (one.kind === 'read' && done && result !== null)
            expect(textOf(result)).toBe(numbered(model.files.get(one.name) as string));
          expect(onDisk()).toEqual(asRecord(model));
        }
      }),
      { numRuns: 150 },
    );
    expect(Math.min(tally.done, tally.refused)).toBeGreaterThan(100);
  });

  test('RT27: asked for at once, by two sessions, they are done in the order in which they were asked for', async () => {
    const changes = operation.filter(
      // What a name that only looks alike leads to depends on what is there by then: these go by their very names.
      (one) => one.kind !== 'read' && one.kind !== 'meanwhile' && one.name !== names[2],
    );
    const starts = fc.record(Object.fromEntries(names.map((one) => [one, text.map(latin)])));
    await fc.assert(
      fc.asyncProperty(starts, fc.array(changes, { minLength: 2, maxLength: 8 }), async (start, operations) => {
        scratch.close();
        scratch = new ToolScratch();
        const model = new Model();
        const seen = [new Map<string, string>(), new Map<string, string>()];
        for (const [one, content] of Object.entries(start)) {
          scratch.put(one, Buffer.from(content, 'latin1'));
          model.files.set(one, content);
        }
        const running = operations.map((one) => carryOut(one, seen));
        const expected = operations.map((one) => (model.apply(one) ? 'completed' : 'failed'));
        expect((await Promise.all(running)).map((result) => result?.outcome)).toEqual(expected);
        expect(onDisk()).toEqual(asRecord(model));
      }),
      { numRuns: 100 },
    );
  });
});

describe('somebody else changes the file in any moment of a call', () => {
  const person = "a person's work\n";
  const calls: [name: string, tool: Tool, args: Record<string, unknown>, old: string | null, after: string | null][] = [
    ['edit', edit, { path: 'a.txt', oldText: 'old', newText: 'new' }, 'old\n', 'new\n'],
    ['write', write, { path: 'a.txt', content: 'new\n' }, 'old\n', 'new\n'],
    ['write, a new file', write, { path: 'a.txt', content: 'new\n' }, null, 'new\n'],
    [
      'apply_patch, deleting',
      patch,
      { patch: '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch' },
      'old\n',
      null,
    ],
  ];

  test.each([
    ['write', write, { path: 'a.txt', content: 'new\n' }, 'old\n'],
    ['write, a new file', write, { path: 'a.txt', content: 'new\n' }, null],
    ['apply_patch, deleting', patch, { patch: '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch' }, 'old\n'],
  ] as const)('%s: after a person was shown what it would do, it is refused', async (_, tool, args, old) => {
    if (old !== null) scratch.put('a.txt', old);
    const call = tool.prepare(args);
    if ('problem' in call) throw new Error(call.problem);
    expect(await call.assess(scratch.environment)).toMatchObject({ effect: 'change' });
    scratch.put('a.txt', person);
    // Judged again once it was allowed, as the agent does.
    expect(await call.assess(scratch.environment)).toMatchObject({ effect: 'refused' });
    const result = await call.execute(scratch.environment, new AbortController().signal);
    expect(textOf(result)).toMatch(/has changed on disk/);
    expect(onDisk()).toEqual({ 'a.txt': person });
    await scratch.call(readTool, { path: 'a.txt' });
    expect(await scratch.call(tool, args)).toMatchObject({ outcome: 'completed' });
  });

  test.each(calls)(
    '%s: it is kept, and the call is refused; or it comes after the change',
    async (_, tool, args, old, after) => {
      // Between the last look at a file and its renaming there is a moment that no system call of ours closes; a new file has none.
      const mayBeLost = old === null ? [] : ['stat', 'readFile', 'close', 'rename', 'unlink'];
      const run = async (at: number) => {
        scratch.close();
        scratch = new ToolScratch();
        if (old !== null) {
          scratch.put('a.txt', old);
          await scratch.call(readTool, { path: 'a.txt' });
        }
        const call = tool.prepare(args);
        if ('problem' in call) throw new Error(call.problem);
        await call.assess(scratch.environment);
        let changedBefore = '';
        const { steps, result } = await stepByStep(
          ({ number, call }) => {
            if (number !== at) return;
            changedBefore = call;
            writeFileSync(scratch.path('.theirs'), person);
            renameSync(scratch.path('.theirs'), scratch.path('a.txt'));
          },
          () => call.execute(scratch.environment, new AbortController().signal),
        );
        return { steps, outcome: result.outcome, changedBefore, files: onDisk() };
      };
      const { steps, files } = await run(Infinity);
      expect(files).toEqual(after === null ? {} : { 'a.txt': after });
      const lost: string[] = [];
      const kept = { refused: 0, afterwards: 0 };
      for (let at = 1; at <= steps; at++) {
        const { outcome, changedBefore, files } = await run(at);
        if (files['a.txt'] !== person) lost.push(changedBefore);
        else kept[outcome === 'failed' ? 'refused' : 'afterwards'] += 1;
        expect(files).toEqual(
          files['a.txt'] === person ? { 'a.txt': person } : after === null ? {} : { 'a.txt': after },
        );
      }
      expect(lost.filter((call) => !mayBeLost.includes(call))).toEqual([]);
      expect(lost.length).toBeLessThanOrEqual(mayBeLost.length - (old === null ? 0 : 1));
      expect(Math.min(kept.refused, kept.afterwards)).toBeGreaterThan(0);
    },
  );
});
