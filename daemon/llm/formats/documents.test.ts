/** PR19: a PDF goes to each vendor in its own form, and fits what the strict one demands. */
import { expect, test } from 'vitest';
import { pdfOf } from '../../testing/pdf.ts';
import { chatDemand, messagesDemand, responsesDemand } from '../../testing/strict-requests.ts';
import type { Item } from '../item.ts';
import { messagesBody } from './anthropic-messages-request.ts';
import { aRequest } from './contract.ts';
import { chatBody } from './openai-chat-request.ts';
import { responsesBody } from './openai-responses-request.ts';

const base64 = pdfOf(['Roses']).toString('base64');
const document = {
  type: 'document' as const,
  mediaType: 'application/pdf' as const,
  base64,
  name: 'garden.pdf',
  pages: 1,
};
const items: Item[] = [{ type: 'person', parts: [document, { type: 'text', text: 'What is in it?' }] }];
const url = `data:application/pdf;base64,${base64}`;

test('PR19: Messages takes it as a document block', () => {
  const body = messagesBody(aRequest(items), 'p', null);
  expect(messagesDemand(body, null)).toBeNull();
  const source = { type: 'base64', media_type: 'application/pdf', data: base64 };
  expect(body.messages[0]?.content[0]).toEqual({ type: 'document', source, title: 'garden.pdf' });
});

test('PR19: Responses takes it as a file of the input', () => {
  const body = responsesBody(aRequest(items), 'p', null);
  expect(responsesDemand(body, null)).toBeNull();
  expect(body.input[0]).toMatchObject({
    content: [{ type: 'input_file', filename: 'garden.pdf', file_data: url }, {}],
  });
});

test('PR19: Chat takes it as a file part', () => {
  const body = chatBody(aRequest(items), 'p');
  expect(chatDemand(body, null)).toBeNull();
  expect(body.messages[1]).toMatchObject({
    content: [{ type: 'file', file: { filename: 'garden.pdf', file_data: url } }, {}],
  });
});
