import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { openWork } from '#protocol/conversation/open.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import { goldenLogs } from '#protocol/testing/golden-logs.ts';
import { fold, LogBuilder } from '#protocol/testing/log-builder.ts';
import type { CallId, InputId, StepId } from '#protocol/values/ids.ts';
import type { Item } from '../../llm/item.ts';
import { maxPictureSide, maxRequestPictures, maxSentPdfPages, scaledPictureSide } from '../../base/limits.ts';
import { gifOf, jpegOf, pngClaiming, pngOf } from '../../testing/pictures.ts';
import { pdfOf } from '../../testing/pdf.ts';
import { pictureFacts } from '../../pictures/picture-facts.ts';
import { closeOpenWork, type Cause } from '../../session/closing.ts';
import { Context } from './context.ts';

const nothing = new Context(() => Promise.resolve(null));
const display = { title: 'Run', kind: 'command' as const };

/** X1 as a sentence: what is wrong, or `valid`. */
function pairing(items: readonly Item[]): string {
  const owed: string[] = [];
  for (const item of items) {
    if (item.type === 'result') {
      const next = owed.shift();
      if (item.callId !== next) return `a result for ${item.callId} where ${next ?? 'none'} was owed`;
      continue;
    }
    if (owed.length > 0) return `no result for ${owed.join()}`;
    if (item.type !== 'reply') continue;
    if (item.pieces.length === 0) return 'an empty reply';
    for (const piece of item.pieces) {
      if (piece.type !== 'tool-call') continue;
      owed.push(piece.callId);
      JSON.parse(piece.argumentsText);
    }
  }
  return owed.length > 0 ? `no result for ${owed.join()}` : 'valid';
}

/** The next request after whatever was open has been closed. */
async function nextRequest(conversation: Conversation, cause: Cause): Promise<Item[]> {
  let closed = conversation;
  for (const draft of closeOpenWork(conversation, cause))
    closed = reduce(closed, { seq: closed.seq + 1, at: closed.at, ...draft });
  expect(openWork(closed)).toBeNull();
  return nothing.items(closed);
}

const causes: Cause[] = ['crash', 'shutdown', 'abort', 'fork', 'fault'];

test('C04 RT14 from any moment of any conversation, however it was closed, the next request has one result for each call, in order (property)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(10_000), { maxLength: 60 }),
      fc.constantFrom(...causes),
      async (choices, cause) => {
        const log = new LogBuilder().session();
        for (const choice of choices) goOn(log, choice);
        expect(log.conversation.anomalies).toEqual([]);
        expect(pairing(await nextRequest(log.conversation, cause))).toBe('valid');
      },
    ),
    { numRuns: 400 },
  );
});

test.each(Object.entries(goldenLogs))(
  'C04 the next request is valid after each event of the golden log %s',
  async (_, build) => {
    const { events } = build();
    for (let end = 2; end <= events.length; end += 1)
      expect(pairing(await nextRequest(fold(events.slice(0, end)), 'crash'))).toBe('valid');
  },
);

describe('a request', () => {
  test('holds inputs, replies and results in their order, whatever order the results came in (PR21)', async () => {
    const log = new LogBuilder().session().asks('go').turn().step().says(['hm'], 'reasoning').says(['so']).replies();
    log.requests('a', { n: 1 }, display).requests('b', { n: 2 }, display);
    log.starts(1).starts(2).ends('two', 'completed', 2).ends('one', 'failed', 1).endsStep();
    expect(await nothing.items(log.conversation)).toEqual([
      { type: 'person', parts: [{ type: 'text', text: 'go' }] },
      {
        type: 'reply',
        provider: 'scripted',
        model: 'demo',
        pieces: [
          { type: 'reasoning', text: 'hm', signature: 'sig-1' },
          { type: 'text', text: 'so' },
          { type: 'tool-call', callId: 'cal_1', tool: 'a', argumentsText: '{"n":1}' },
          { type: 'tool-call', callId: 'cal_2', tool: 'b', argumentsText: '{"n":2}' },
        ],
      },
      { type: 'result', callId: 'cal_1', tool: 'a', parts: [{ type: 'text', text: 'one' }], failed: true },
      { type: 'result', callId: 'cal_2', tool: 'b', parts: [{ type: 'text', text: 'two' }], failed: false },
    ]);
  });

  test('of a reply that never completed holds its text alone', async () => {
    const log = new LogBuilder().session().asks('go').turn().step();
    log.says(['thinking'], 'reasoning').says(['half a']).announces('bash');
    const [, reply, ...more] = await nextRequest(log.conversation, 'abort');
    expect(reply).toMatchObject({ pieces: [{ type: 'text', text: 'half a' }] });
    expect(more).toEqual([]);
  });

  test('has blobs back byte for byte, and a note where one is gone', async () => {
    const blobs = new Map<string, Uint8Array>();
    const put = (bytes: Uint8Array) => {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      blobs.set(sha256, bytes);
      return { sha256, bytes: bytes.length };
    };
    const context = new Context(({ sha256 }) => Promise.resolve(blobs.get(sha256) ?? null));
    const text = 'long 🌱 '.repeat(1000);
    const picture = pngOf(4, 3);
    const gone = { sha256: 'f'.repeat(64), bytes: 3 };
    const log = new LogBuilder().session().asks('go').turn().step().replies();
    log.add({
      type: 'tool-call.requested',
      callId: 'cal_1' as CallId,
      stepId: log.stepId,
      providerCallId: null,
      tool: 'write',
      arguments: null,
      argumentsBlob: put(Buffer.from(JSON.stringify({ text }))),
      display,
    });
    log.starts().add({
      type: 'tool-call.ended',
      callId: 'cal_1' as CallId,
      outcome: 'completed',
      content: [
        { type: 'text-blob', blob: put(Buffer.from(text)) },
        { type: 'image', blob: put(picture), mediaType: 'image/png' },
        { type: 'text-blob', blob: gone },
        { type: 'image', blob: gone, mediaType: 'image/png' },
      ],
    });
    const [, reply, result] = await context.items(log.endsStep().conversation);
    expect(reply).toMatchObject({ pieces: [{ argumentsText: JSON.stringify({ text }) }] });
    expect(result).toMatchObject({
      parts: [
        { type: 'text', text },
        { type: 'image', base64: Buffer.from(picture).toString('base64') },
        { type: 'text', text: '[This text is no longer stored.]' },
        { type: 'text', text: '[A picture stood here that is no longer stored.]' },
      ],
    });
  });

  test('after a compaction begins with its summary and splits no call from its result', async () => {
    const build = goldenLogs['twenty-steps'];
    if (build === undefined) throw new Error('there should be a golden log');
    const items = await nothing.items(build().conversation);
    expect(items[0]).toMatchObject({
      type: 'person',
      parts: [{ text: expect.stringContaining('Beds 1 to 10 were counted.') as string }],
    });
    expect(pairing(items)).toBe('valid');
  });

  test('is made from closed steps once: their items keep their identity', async () => {
    const context = new Context(() => Promise.resolve(null));
    const log = new LogBuilder().session().asks('go').turn().step().says(['a']).replies().endsStep();
    const [first] = await context.items(log.conversation);
    const [again] = await context.items(log.step().conversation);
    expect(again).toBe(first);
  });
});

/** Writes something that fits, chosen by the number. */
function goOn(log: LogBuilder, choice: number): void {
  const { active } = log.conversation;
  const step = active?.step;
  if (active === null) {
    log.asks(`message ${choice}`).turn();
    return;
  }
  if (!step) {
    if (choice % 5 === 0) log.endsTurn(choice % 2 === 0 ? 'completed' : 'failed');
    else log.step();
    return;
  }
  const open = step.calls.filter((call) => call.state !== 'ended');
  const call = open[choice % Math.max(1, open.length)];
  const number = call === undefined ? 0 : Number(call.callId.slice(4));
  const last = step.parts.at(-1);
  if (step.reply === null) {
    if (last !== undefined && last.endedAt === null) log.add({ type: 'part.ended', partId: last.partId });
    else if (choice % 6 === 0) log.says(['part ', `${choice}`], 'text', choice % 12 === 0 ? 'open' : 'ended');
    else if (choice % 6 === 1) log.says(['thought'], 'reasoning', 'open');
    else if (choice % 6 === 2) log.announces('bash');
    else if (choice % 6 === 3) log.asks('steer', 'next-step');
    else {
      log.replies(choice % 4 === 0 ? null : undefined);
      for (let made = 0; made < choice % 4; made += 1) {
        const partId = step.parts.filter((part) => part.kind === 'tool-call')[made]?.partId;
        log.add({
          type: 'tool-call.requested',
          callId: `cal_${log.conversation.counts.calls + 1}` as CallId,
          stepId: step.stepId,
          ...(partId === undefined ? {} : { partId }),
          providerCallId: null,
          tool: 'bash',
          arguments: choice % 3 === 0 ? null : { n: choice },
          display,
        });
      }
    }
  } else if (call === undefined) log.endsStep();
  else if (call.state === 'waiting')
    log.answers(choice % 2 === 0 ? 'allow' : 'deny', 'once', Number(call.approval?.approvalId.slice(4)));
  else if (call.state === 'running') {
    if (choice % 3 === 0) log.prints(`line ${choice}\n`, number);
    else log.ends('done', choice % 2 === 0 ? 'completed' : 'failed', number);
  } else if (call.approval?.decision === 'deny') log.ends('denied', 'denied', number);
  else if (call.approval === null && choice % 3 === 0) log.needsApproval('why', number);
  else log.starts(number);
}

describe('pictures of a request', () => {
  const blobs = new Map<string, Uint8Array>();
  const put = (bytes: Uint8Array) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    blobs.set(sha256, bytes);
    return { sha256, bytes: bytes.length };
  };
  const context = () => new Context(({ sha256 }) => Promise.resolve(blobs.get(sha256) ?? null));
  const attach = (log: LogBuilder, pictures: readonly Uint8Array[], mediaType = 'image/png') => {
    const parts = pictures.map((bytes, at) => ({ type: 'image' as const, blob: put(bytes), mediaType, name: `${at}` }));
    const inputId = `01940000-0000-7000-8000-${String(log.conversation.seq).padStart(12, '0')}` as InputId;
    return log.add({ type: 'input.queued', inputId, target: 'next-turn', parts, origin: 'person' });
  };
  const sent = (log: LogBuilder) => {
    log.turn().add({
      type: 'step.started',
      turnId: log.turnId,
      stepId: 'stp_1' as StepId,
      model: 'a/b',
      effort: null,
      mode: 'ask',
    });
    const inputIds = log.conversation.inbox.map(({ inputId }) => inputId);
    return log.add({ type: 'input.claimed', stepId: log.stepId, inputIds }).conversation;
  };
  const partsOf = (items: readonly Item[]) => items.flatMap((item) => (item.type === 'reply' ? [] : item.parts));
  const words = (items: readonly Item[]) =>
    partsOf(items).map((part) => (part.type === 'text' ? part.text : part.mediaType));

  test('PR19: a PDF is sent as it is to a model that takes PDFs, and as its text to any other', async () => {
    const pdf = pdfOf(['Roses']);
    const document = { type: 'document' as const, blob: put(pdf), mediaType: 'application/pdf' as const };
    const of = (pages: number) => {
      const log = new LogBuilder().session();
      const inputId = '01940000-0000-7000-8000-000000000001' as InputId;
      const parts = [{ ...document, name: 'garden.pdf', pages, text: put(Buffer.from('--- Page 1 ---\nRoses')) }];
      return sent(log.add({ type: 'input.queued', inputId, target: 'next-turn', parts, origin: 'person' }));
    };
    const [native] = partsOf(await context().items(of(1), 'a', null, true));
    expect(native).toEqual({
      type: 'document',
      mediaType: 'application/pdf',
      base64: pdf.toString('base64'),
      name: 'garden.pdf',
      pages: 1,
    });
    const asText = [
      'The person attached the file garden.pdf (the text of its 1 page):\n```\n--- Page 1 ---\nRoses\n```',
    ];
    expect(words(await context().items(of(1)))).toEqual(asText);
    // More pages than vendors take in one.
    expect(words(await context().items(of(maxSentPdfPages + 1), 'a', null, true))).toEqual([
      asText[0]?.replace('1 page', `${maxSentPdfPages + 1} pages`),
    ]);
  });

  test('US5: each is checked by its own bytes: too large is scaled, of another format converted, no picture is a note', async () => {
    const pictures = [
      pngOf(maxPictureSide + 100, 4),
      jpegOf(4, 4),
      Buffer.from('no picture'),
      pngClaiming(60_000, 60_000),
    ];
    const items = await context().items(sent(attach(new LogBuilder().session(), pictures, 'image/tiff')));
    expect(words(items)).toEqual([
      'image/png',
      'image/jpeg',
      '[A picture (2) stood here that is no picture that can be read. Pictures are png, jpeg, gif, webp, bmp or ico.]',
      expect.stringMatching(/^\[A picture \(3\) stood here that has 60000 x 60000 pixels/) as string,
    ]);
    const [first] = partsOf(items);
    const facts = first?.type === 'image' ? pictureFacts(Buffer.from(first.base64, 'base64')) : null;
    expect(facts?.width).toBe(scaledPictureSide);
  });

  test('US5: of more than a request takes the newest are sent, the older ones are notes, and the same every time', async () => {
    const pictures = Array.from({ length: maxRequestPictures + 2 }, (_, at) => gifOf(at + 1, 3));
    const conversation = sent(attach(new LogBuilder().session(), pictures));
    const made = context();
    const items = await made.items(conversation);
    expect(words(items).slice(0, 3)).toEqual([
      '[A picture (0) stood here that is older than the newest that are sent.]',
      '[A picture (1) stood here that is older than the newest that are sent.]',
      'image/gif',
    ]);
    expect(partsOf(items).filter(({ type }) => type === 'image')).toHaveLength(maxRequestPictures);
    expect(await made.items(conversation)).toEqual(items);
  });

  test('US5: together they have room in a request: what has none is a note', async () => {
    const large = Array.from({ length: 5 }, () => pngOf(1100, 1100, true));
    const items = await context().items(sent(attach(new LogBuilder().session(), large)));
    expect(words(items).filter((text) => text.includes('has no room'))).toHaveLength(1);
    expect(words(items).at(-1)).toBe('image/png');
  });

  test('US5: a model that sees no pictures, and one that did not take these, gets notes; another one gets them', async () => {
    const conversation = sent(attach(new LogBuilder().session(), [gifOf(3, 3)]));
    const made = context();
    expect(words(await made.items(conversation, 'blind', false))).toEqual([
      '[A picture (0) stood here that this model cannot see.]',
    ]);
    expect(words(await made.items(conversation, 'picky'))).toEqual(['image/gif']);
    made.refusePictures('picky');
    expect(words(await made.items(conversation, 'picky'))).toEqual([
      '[A picture (0) stood here that the provider did not take.]',
    ]);
    expect(words(await made.items(conversation, 'other', true))).toEqual(['image/gif']);
  });

  test('an attached text is a named file in a fence that it cannot end', async () => {
    const log = new LogBuilder().session();
    const text = 'a\n````\nb';
    const parts = [
      { type: 'text' as const, text: 'Look.' },
      { type: 'text' as const, text, name: 'notes.md' },
    ];
    log.add({
      type: 'input.queued',
      inputId: '01940000-0000-7000-8000-000000000009' as InputId,
      target: 'next-turn',
      parts,
      origin: 'person',
    });
    const items = await nothing.items(sent(log));
    expect(words(items)).toEqual(['Look.', 'The person attached the file notes.md:\n`````\na\n````\nb\n`````']);
  });
});
