/** PR20: calls that came as text. */
import { expect, test } from 'vitest';
import { leakedCall } from './leaked-call.ts';

const tools = ['read', 'write'].map((name) => ({ name, description: '', parameters: {} }));
const json = '{"name": "read", "arguments": {"path": "a.txt"}}';

test.each([
  ['plain JSON', json],
  ['parameters instead of arguments', '{"type":"function","name":"read","parameters":{"path":"a.txt"}}'],
  ['arguments in a string', '{"name":"read","arguments":"{\\"path\\":\\"a.txt\\"}"}'],
  ['a function in it', '{"id":"1","type":"function","function":{"name":"read","arguments":{"path":"a.txt"}}}'],
  ['a list of one', `[${json}]`],
  ['a fence', `\`\`\`json\n${json}\n\`\`\``],
  ['a bare fence, with space around', `\n\`\`\`\n${json}\`\`\`\n`],
  ['<tool_call>', `<tool_call>\n${json}\n</tool_call>`],
  ['<tool_call> that is not closed', `<tool_call>${json}`],
  ['Qwen', '<tool_call>\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>'],
  [
    'invoke',
    '<function_calls>\n<invoke name="read">\n<parameter name="path">a.txt</parameter>\n</invoke>\n</function_calls>',
  ],
  [
    'Kimi',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path":"a.txt"}<|tool_call_end|><|tool_calls_section_end|>',
  ],
  [
    'DeepSeek',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{"path":"a.txt"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  [
    'DeepSeek, newer',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path":"a.txt"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  ['Mistral', `[TOOL_CALLS][${json}]`],
  ['Mistral, newer', '[TOOL_CALLS]read[ARGS]{"path":"a.txt"}'],
  ['Llama', `<|python_tag|>${json}<|eom_id|>`],
  ['gpt-oss', '<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"a.txt"}<|call|>'],
])('PR20: a reply that is one call as %s is that call', (_, text) => {
  const found = leakedCall(text, tools);
  expect(found?.tool).toBe('read');
  expect(JSON.parse(found?.argumentsText ?? '')).toEqual({ path: 'a.txt' });
});

test.each([
  ['an unknown tool', '{"name":"format_disk","arguments":{}}'],
  ['an unknown tool in markup', '<tool_call>{"name":"format_disk","arguments":{}}</tool_call>'],
  ['words before it', `I will read it: ${json}`],
  ['words behind it', `${json}\nThat should do.`],
  ['two calls', `[${json},${json}]`],
  ['two marked calls', `<tool_call>${json}</tool_call><tool_call>${json}</tool_call>`],
  ['two invokes', '<function_calls><invoke name="read"></invoke><invoke name="read"></invoke></function_calls>'],
  ['JSON of another kind', '{"name":"read","version":"1.0.0","arguments":{}}'],
  ['a name without arguments', '{"name":"read"}'],
  ['arguments that are no object', '{"name":"read","arguments":[1]}'],
  ['a cut one', '{"name":"read","arguments":{"path":'],
  ['two fences', `\`\`\`\n${json}\n\`\`\`\n\`\`\`\n${json}\n\`\`\``],
  ['nothing', ''],
  ['plain words', 'read {"path":"a"} is what I would do'],
])('PR20: %s stays text', (_, text) => {
  expect(leakedCall(text, tools)).toBeNull();
});

test('PR20: a long reply that is none costs no time', () => {
  const before = performance.now();
  for (const text of [
    `<tool_call>${'a '.repeat(100_000)}`,
    `{"name":"${'x'.repeat(200_000)}`,
    `<function=read>${'<parameter=a>'.repeat(20_000)}</function>`,
  ])
    expect(leakedCall(text, tools)).toBeNull();
  expect(performance.now() - before).toBeLessThan(1000);
});
