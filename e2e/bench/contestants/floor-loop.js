/**
 * The floor: a bare agent loop in Node, the least that any agent in it can do for a turn. It asks the provider, reads the stream, appends each
 * event to a file, runs each call by `bash -c`, and asks again. No promise is kept: nothing is synced, checked, bounded or asked about.
 */
import { execFile } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const [task = ''] = process.argv.slice(2);
const log = openSync(join(homedir(), 'floor', 'session.jsonl'), 'a');
const append = (event) => writeSync(log, `${JSON.stringify(event)}\n`);
const parameters = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };
const tools = [{ type: 'function', function: { name: 'bash', description: 'Runs a command.', parameters } }];
const messages = [
  { role: 'system', content: 'You are a coding agent.' },
  { role: 'user', content: task },
];

let calls;
do {
  calls = [];
  let text = '';
  for await (const data of ask()) {
    const { delta } = JSON.parse(data).choices[0] ?? {};
    if (delta?.content) append({ type: 'delta', text: delta.content });
    text += delta?.content ?? '';
    calls.push(...(delta?.tool_calls ?? []));
  }
  append({ type: 'reply', text, calls });
  messages.push({ role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls: calls } : {}) });
  for (const call of calls) {
    const output = await run(JSON.parse(call.function.arguments).command);
    append({ type: 'result', id: call.id, output });
    messages.push({ role: 'tool', tool_call_id: call.id, content: output });
  }
  if (calls.length === 0) process.stdout.write(`${text}\n`);
} while (calls.length > 0);

/** The data of each event of the stream. */
async function* ask() {
  const response = await fetch(process.env.FLOOR_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted', stream: true, messages, tools }),
  });
  const decoder = new TextDecoder();
  let waiting = '';
  for await (const bytes of response.body) {
    const events = (waiting + decoder.decode(bytes, { stream: true })).split('\n\n');
    waiting = events.pop() ?? '';
    for (const event of events) if (event.startsWith('data: {')) yield event.slice('data: '.length);
  }
}

function run(command) {
  return new Promise((resolve) => {
    execFile('bash', ['-c', command], (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
