/**
 * TL12: what a model sees of one result is bounded, whatever the tool made of it: a text that is too long is its head and its tail, and the whole, up
 * to `maxSpillBytes`, is in a file that the result names. Tools that bound themselves are not touched.
 */
import { writeFile } from 'node:fs/promises';
import type { ResultPart } from '#protocol/values/content.ts';
import type { CallId } from '#protocol/values/ids.ts';
import { leftOutHere } from '../base/left-out.ts';
import { maxCallTextBytes, maxSpillBytes } from '../base/limits.ts';
import { OutputWindow } from '../tools/truncate.ts';

export async function boundedResult(
  callId: CallId,
  content: readonly ResultPart[],
  spillFile: (name: string) => Promise<string>,
): Promise<ResultPart[]> {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) <= maxCallTextBytes) return [...content];
  // In one: head and tail are of all that was said.
  const text = await clipped(`${callId}.txt`, texts.join('\n'), spillFile);
  return [{ type: 'text', text }, ...content.filter((part) => part.type !== 'text')];
}

async function clipped(name: string, text: string, spillFile: (name: string) => Promise<string>): Promise<string> {
  const bytes = Buffer.from(text);
  const window = new OutputWindow();
  window.push(bytes);
  const seen = window.result();
  if (seen.cut === null) return text;
  return `${seen.head.replace(/\n$/, '')}\n[… ${leftOutHere(seen)}; ${await kept(name, bytes, spillFile)} …]\n${seen.tail}`;
}

/** Where it is, in words. A disk that refuses fails no call. */
async function kept(name: string, bytes: Buffer, spillFile: (name: string) => Promise<string>): Promise<string> {
  try {
    const path = await spillFile(name);
    await writeFile(path, bytes.subarray(0, maxSpillBytes), { mode: 0o600 });
    return bytes.length <= maxSpillBytes
      ? `the whole is in ${path}`
      : `the first ${maxSpillBytes / 1024 / 1024} MiB are in ${path}`;
  } catch {
    return 'the whole could not be kept';
  }
}
