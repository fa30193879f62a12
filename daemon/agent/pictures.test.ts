/** An agent whose inputs and results hold pictures. */
import { expect, test } from 'vitest';
import { maxSessionPictures } from '#protocol/limits.ts';
import type { InputPart } from '#protocol/values/content.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import type { ModelRequest } from '../llm/item.ts';
import { agentOn, ended, says, type MadeAgent } from '../testing/agent-on.ts';
import { gifOf } from '../testing/pictures.ts';

const refused: Failure = {
  code: 'provider_refused',
  message: 'work answered 400.',
  detail: '{"error":{"message":"Could not process image"}}',
};
const fails = (failure: Failure) => [{ type: 'fail' as const, failure, retryable: false }];
const attach = async (made: MadeAgent, count = 1) => {
  const blob = await made.session.storeBlob(gifOf(3, 2));
  const pictures = Array.from({ length: count }, (): InputPart => ({
    type: 'image',
    blob,
    mediaType: 'image/gif',
    name: 'a.gif',
  }));
  return [{ type: 'text' as const, text: 'look' }, ...pictures];
};
const submit = async (made: MadeAgent, count = 1) =>
  made.agent.submit({ target: 'next-turn', parts: await attach(made, count), origin: 'person' }, made.ids.mark());
const pictures = ({ items }: ModelRequest) =>
  items.flatMap((item) => (item.type === 'reply' ? [] : item.parts)).filter(({ type }) => type === 'image').length;

test('US5: where a provider refuses a picture the turn goes on with a note in its place, says so, and does not try it again', async () => {
  const made = await agentOn([fails(refused), says('a note then'), says('again')]);
  await submit(made);
  const conversation = await made.until(ended());
  expect(conversation.lastOutcome).toBe('completed');
  expect(made.model.requests.map(pictures)).toEqual([1, 0]);
  expect(conversation.warnings.map(({ message }) => message)).toEqual([
    'scripted/demo did not take the pictures of this conversation, so it goes on without them. work answered 400.',
  ]);
  await made.submit('and now?');
  await made.until(ended(2));
  expect(made.model.requests.map(pictures)).toEqual([1, 0, 0]);
});

test('US5: a refusal that names no picture, or of a request without one, is a failure as ever', async () => {
  const other: Failure = { code: 'provider_refused', message: 'work answered 400.', detail: '{"error":"max_tokens"}' };
  const made = await agentOn([fails(other), fails(refused)]);
  await submit(made);
  expect((await made.until(ended())).lastOutcome).toBe('failed');
  const without = await agentOn([fails(refused)]);
  await without.submit('go');
  const conversation = await without.until(ended());
  expect([conversation.lastOutcome, conversation.warnings]).toEqual(['failed', []]);
  expect([made.model.requests.length, without.model.requests.length]).toEqual([1, 1]);
});

test('PR18: what is beyond the limit of a session is refused and nothing of it is kept; taken back, there is room again', async () => {
  const made = await agentOn([says('one'), says('two')]);
  await submit(made, maxSessionPictures - 1);
  const { seq } = await made.until(ended());
  await expect(submit(made, 2)).rejects.toMatchObject({
    code: 'too_many',
    message: expect.stringContaining('maxSessionPictures') as string,
  });
  expect(made.session.conversation.seq).toBe(seq);
  await submit(made, 1);
  expect((await made.until(ended(2))).attached.pictures).toBe(maxSessionPictures);
  expect(made.session.conversation.anomalies).toEqual([]);
});

test('TL6: a model that is known to see none is sent a note', async () => {
  const made = await agentOn([says('blind')], { facts: { pictures: false } });
  await submit(made);
  await made.until(ended());
  expect(made.model.requests.map(pictures)).toEqual([0]);
  expect(JSON.stringify(made.model.requests[0]?.items)).toContain(
    '[A picture (a.gif) stood here that this model cannot see.]',
  );
});
