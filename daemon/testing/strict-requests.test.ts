/** The strict vendors of the tests are strict: each rule refuses the request that breaks it, and a whole one passes. */
import { expect, test } from 'vitest';
import { chatDemand, messagesDemand, responsesDemand } from './strict-requests.ts';

const user = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const said = (text: string) => ({ type: 'text', text });
const use = (id: string, name = 'read') => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: [said('x')] });
const thinking = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature });
const messages = (list: unknown[], more: object = {}) => ({ max_tokens: 4096, messages: list, ...more });
const enabled = { thinking: { type: 'enabled', budget_tokens: 2048 } };

test.each<[string, unknown, RegExp | null]>([
  [
    'a whole exchange',
    messages([user(said('a')), assistant(thinking('s'), use('t')), user(result('t'))], enabled),
    null,
  ],
  ['an empty text', messages([user(said(' '))]), /non-whitespace/],
  ['the assistant last', messages([user(said('a')), assistant(said('b'))]), /prefill/],
  ['a call without result', messages([user(said('a')), assistant(use('t')), user(said('b'))]), /without tool_result/],
  ['a result without call', messages([user(result('t'))]), /without tool_result/],
  [
    'a result behind text',
    messages([user(said('a')), assistant(use('t')), user(said('b'), result('t'))]),
    /come first/,
  ],
  ['an id with a dot', messages([user(said('a')), assistant(use('t.1')), user(result('t.1'))]), /pattern/],
  ['a tool name with a dot', messages([user(said('a')), assistant(use('t', 'a.b')), user(result('t'))]), /tool name/],
  [
    'a foreign signature',
    messages([user(said('a')), assistant(thinking('x'), said('b')), user(said('c'))]),
    /not made here/,
  ],
  ['thinking last', messages([user(said('a')), assistant(said('b'), thinking('s')), user(said('c'))]), /final block/],
  [
    'no thinking first',
    messages([user(said('a')), assistant(use('t')), user(result('t'))], enabled),
    /must start with/,
  ],
  [
    'five cache marks',
    messages([user(...Array.from({ length: 5 }, () => ({ ...said('a'), cache_control: {} })))]),
    /4 blocks/,
  ],
])('Messages: %s', (_, body, problem) => {
  expect(messagesDemand(body, '"s"') ?? '').toMatch(problem ?? /^$/);
});

const call = (id: string, text = '{}') => ({ id, type: 'function', function: { name: 'read', arguments: text } });
const chat = (...list: unknown[]) => ({ model: 'deepseek-chat', messages: list });
test.each<[string, unknown, RegExp | null]>([
  [
    'a whole exchange',
    chat(
      { role: 'user', content: 'a' },
      { role: 'assistant', content: null, tool_calls: [call('c')], reasoning_content: 'hm' },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ),
    null,
  ],
  ['an empty reply', chat({ role: 'user', content: 'a' }, { role: 'assistant', content: '' }), /either content or/],
  [
    'a result without call',
    chat({ role: 'user', content: 'a' }, { role: 'tool', tool_call_id: 'c', content: 'x' }),
    /same number/,
  ],
  [
    'a call without reasoning',
    chat(
      { role: 'user', content: 'a' },
      { role: 'assistant', content: null, tool_calls: [call('c')] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ),
    /reasoning_content/,
  ],
  [
    'a call without result',
    chat(
      { role: 'user', content: 'a' },
      { role: 'assistant', content: null, reasoning_content: 'h', tool_calls: [call('c')] },
    ),
    /no responses/,
  ],
  [
    'arguments that are none',
    chat({ role: 'user', content: 'a' }, { role: 'assistant', content: null, tool_calls: [call('c', '[')] }),
    /JSON object/,
  ],
  ['the assistant last', chat({ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }), /last role/],
])('Chat: %s', (_, body, problem) => {
  expect(chatDemand(body, null) ?? '').toMatch(problem ?? /^$/);
});

const asked = { role: 'user', content: 'a' };
const fn = { type: 'function_call', call_id: 'c', name: 'read', arguments: '{}' };
const out = { type: 'function_call_output', call_id: 'c', output: 'x' };
const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 's', summary: [] };
test.each<[string, unknown[], RegExp | null]>([
  ['a whole exchange', [asked, reasoning, fn, out], null],
  ['reasoning without its item', [asked, reasoning, asked], /required following item/],
  ['foreign reasoning', [asked, { ...reasoning, encrypted_content: 'x' }, fn, out], /not made here/],
  ['a call without output', [asked, fn], /No tool output/],
  ['an output without call', [asked, out], /No tool call/],
  ['an id of ours', [asked, { ...fn, id: 'cal_1' }, out], /fc_/],
  ['an id too long', [asked, { ...fn, call_id: 'c'.repeat(65) }, out], /64/],
])('Responses: %s', (_, input, problem) => {
  expect(responsesDemand({ input, store: false }, '"s"') ?? '').toMatch(problem ?? /^$/);
});
