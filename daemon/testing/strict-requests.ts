/**
 * What vendors demand of a request, and refuse with a 400: the rules of each wire format as its strictest vendor keeps them. Every scripted
 * server holds each request against them (wire-server.ts), so an adapter that forgets one fails whichever test it runs in. `said` is all that
 * the server has answered so far: where it is given, signatures and encrypted reasoning must come from there.
 */
export type Demand = (body: unknown, said: string | null) => string | null;

type Fields = Record<string, unknown>;

class Refused extends Error {}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Refused(what);
}

function demanding(check: (body: Fields, said: string | null) => void): Demand {
  return (body, said) => {
    try {
      check(fields(body), said);
      return null;
    } catch (error) {
      if (error instanceof Refused) return error.message;
      throw error;
    }
  };
}

export const messagesDemand = demanding((body, said) => {
  must(Number.isInteger(body['max_tokens']) && Number(body['max_tokens']) > 0, 'max_tokens: required');
  must(marks(body) <= 4, 'a maximum of 4 blocks with cache_control may be provided');
  for (const block of list(body['system'])) noEmptyText(block, 'system');
  for (const tool of list(body['tools'])) toolName(tool['name'], 128);
  const messages = list(body['messages']);
  must(messages.length > 0, 'messages: at least one message is required');
  const ids = new Set<unknown>();
  for (const [place, message] of messages.entries()) {
    const at = `messages.${place}`;
    must(message['role'] === (place % 2 === 0 ? 'user' : 'assistant'), `${at}: roles must alternate, user first`);
    const content = list(message['content']);
    must(content.length > 0, `${at}: content must not be empty`);
    const owed = place === 0 ? [] : calls(messages[place - 1]);
    const answered = content.filter((block) => block['type'] === 'tool_result').map((block) => block['tool_use_id']);
    must(
      answered.length === owed.length && owed.every((id) => answered.includes(id)),
      `${at}: tool_use ids were found without tool_result blocks immediately after, or results without their tool_use`,
    );
    must(
      content.slice(0, answered.length).every((block) => block['type'] === 'tool_result'),
      `${at}: tool_result blocks must come first`,
    );
    for (const block of content) {
      noEmptyText(block, at);
      if (block['type'] === 'image') messagesPicture(block, at);
      if (block['type'] === 'document') document(fields(block['source'])['data'], at);
      if (block['type'] === 'tool_result') {
        for (const part of list(block['content'])) {
          noEmptyText(part, at);
          if (part['type'] === 'image') messagesPicture(part, at);
        }
      }
      if (block['type'] === 'tool_use') {
        must(/^[a-zA-Z0-9_-]+$/.test(text(block['id'])), `${at}: tool_use.id: String should match the pattern`);
        must(!ids.has(block['id']), `${at}: tool_use ids must be unique`);
        ids.add(block['id']);
        toolName(block['name'], 128);
        must(isObject(block['input']), `${at}: tool_use.input: must be an object`);
      }
      if (block['type'] === 'thinking') issued(block['signature'], said, `${at}: Invalid signature in thinking block`);
      if (block['type'] === 'redacted_thinking')
        issued(block['data'], said, `${at}: Invalid data in redacted_thinking`);
    }
    must(!/thinking/.test(text(content.at(-1)?.['type'])), `${at}: the final block must not be thinking`);
  }
  must(messages.at(-1)?.['role'] === 'user', 'this model does not support assistant message prefill');
  const thinking = fields(body['thinking']);
  if (thinking['type'] !== 'enabled') return;
  const budget = Number(thinking['budget_tokens']);
  must(
    budget >= 1024 && budget < Number(body['max_tokens']),
    'thinking.budget_tokens: 1024 at least, below max_tokens',
  );
  const begin = messages.findLastIndex(
    (one) => one['role'] === 'user' && list(one['content']).every((block) => block['type'] !== 'tool_result'),
  );
  for (const message of messages.slice(begin + 1)) {
    const first = text(list(message['content'])[0]?.['type']);
    must(
      message['role'] === 'user' || /thinking/.test(first),
      'when thinking is enabled, a final assistant message must start with a thinking block',
    );
  }
});

export const chatDemand = demanding((body) => {
  for (const tool of list(body['tools'])) toolName(fields(tool['function'])['name'], 64);
  const messages = list(body['messages']);
  must(
    messages.some((message) => message['role'] !== 'system'),
    'messages: too short',
  );
  const lastPerson = messages.findLastIndex((message) => message['role'] === 'user');
  let owed: unknown[] = [];
  for (const [place, message] of messages.entries()) {
    const at = `messages[${place}]`;
    const { role, content } = message as { role: unknown; content: unknown };
    if (role === 'tool') {
      must(owed[0] === message['tool_call_id'], `${at}: not the same number of function calls and responses`);
      must(typeof content === 'string' && content !== '', `${at}: a tool message needs content`);
      owed = owed.slice(1);
      continue;
    }
    must(owed.length === 0, `${at}: an assistant message with tool_calls must be followed by tool messages`);
    if (role === 'system') must(place === 0, `${at}: a system message stands first`);
    for (const part of Array.isArray(content) ? list(content) : []) {
      noEmptyText(part, at);
      if (part['type'] === 'image_url') dataUrl(fields(part['image_url'])['url'], at);
      if (part['type'] === 'file') dataUrl(fields(part['file'])['file_data'], at);
    }
    if (role === 'user')
      must(content !== '' && list(content).length + text(content).length > 0, `${at}: empty content`);
    if (role !== 'assistant') continue;
    const made = list(message['tool_calls']);
    must(made.length > 0 || text(content) !== '', `${at}: must have either content or tool_calls`);
    for (const call of made) {
      must(/^[A-Za-z0-9_-]{1,40}$/.test(text(call['id'])), `${at}: tool call id was ${text(call['id'])}`);
      toolName(fields(call['function'])['name'], 64);
      must(isObject(parsed(fields(call['function'])['arguments'])), `${at}: arguments must be a JSON object`);
    }
    owed = made.map((call) => call['id']);
    if (made.length > 0 && place > lastPerson && /deepseek|kimi/.test(text(body['model'])))
      must(
        text(message['reasoning_content']) !== '',
        `${at}: Missing reasoning_content field in the assistant message`,
      );
  }
  must(owed.length === 0, 'the last tool_calls have no responses');
  must(messages.at(-1)?.['role'] !== 'assistant', 'expected last role user or tool');
});

export const responsesDemand = demanding((body, said) => {
  for (const tool of list(body['tools'])) toolName(tool['name'], 64);
  must(body['instructions'] === undefined || text(body['instructions']) !== '', 'instructions: must not be empty');
  const input = list(body['input']);
  must(input.length > 0, 'input: must not be empty');
  const owed = new Set<unknown>();
  for (const [place, item] of input.entries()) {
    const at = `input[${place}]`;
    switch (item['type']) {
      case 'function_call':
        must(/^\S{1,64}$/.test(text(item['call_id'])), `${at}.call_id: 1 to 64 characters`);
        must(item['id'] === undefined || text(item['id']).startsWith('fc_'), `${at}.id: begins with fc_`);
        must(isObject(parsed(item['arguments'])), `${at}.arguments: not a JSON object`);
        toolName(item['name'], 64);
        owed.add(item['call_id']);
        break;
      case 'function_call_output':
        must(owed.delete(item['call_id']), `${at}: No tool call found for function call output`);
        responsesContent(item['output'], at);
        break;
      case 'reasoning': {
        must(text(item['id']).startsWith('rs_'), `${at}.id: begins with rs_`);
        issued(item['encrypted_content'], said, `${at}: encrypted content could not be verified`);
        const next = input[place + 1];
        const follows =
          next !== undefined &&
          (['function_call', 'reasoning'].includes(text(next['type'])) || next['role'] === 'assistant');
        must(follows, `${at}: reasoning was provided without its required following item`);
        break;
      }
      default:
        must(['user', 'assistant', 'developer'].includes(text(item['role'])), `${at}: unknown item`);
        must(owed.size === 0, `${at}: No tool output found for function call ${[...owed].join(', ')}`);
        responsesContent(item['content'], at);
    }
  }
  must(owed.size === 0, `No tool output found for function call ${[...owed].join(', ')}`);
  const reasons = input.some((item) => item['type'] === 'reasoning');
  must(!reasons || body['store'] === false, 'store: encrypted reasoning goes with store=false');
});

function responsesContent(content: unknown, at: string): void {
  must(text(content) !== '' || list(content).length > 0, `${at}: empty content`);
  for (const part of list(content)) {
    noEmptyText(part, at);
    if (part['type'] === 'input_image') dataUrl(part['image_url'], at);
    if (part['type'] === 'input_file') dataUrl(part['file_data'], at);
  }
}

/** The vendors take five MiB of base64 for one picture, of these kinds. */
function messagesPicture(block: Fields, at: string): void {
  const source = fields(block['source']);
  const known = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'].includes(text(source['media_type']));
  must(known && text(source['data']) !== '', `${at}: image: unknown media type, or no data`);
  must(text(source['data']).length <= 5 * 1024 * 1024, `${at}: image exceeds 5 MB maximum`);
}

function document(data: unknown, at: string): void {
  must(
    Buffer.from(text(data), 'base64').subarray(0, 5).toString() === '%PDF-',
    `${at}: The PDF specified was not valid`,
  );
}

function dataUrl(url: unknown, at: string): void {
  const [, kind, base64 = ''] = /^data:([\w./+-]+);base64,(.+)$/.exec(text(url)) ?? [];
  must(/^(image\/(png|jpeg|gif|webp)|application\/pdf)$/.test(kind ?? '') && base64 !== '', `${at}: invalid data URL`);
  if (kind === 'application/pdf') document(base64, at);
}

function issued(value: unknown, said: string | null, problem: string): void {
  must(text(value) !== '', problem);
  if (said !== null) must(said.includes(JSON.stringify(value)), `${problem}: it was not made here`);
}

function calls(message: Fields | undefined): unknown[] {
  return list(message?.['content'])
    .filter((block) => block['type'] === 'tool_use')
    .map((block) => block['id']);
}

function noEmptyText(block: Fields, at: string): void {
  if (!/^(input_|output_)?text$/.test(text(block['type']))) return;
  must(text(block['text']).trim() !== '', `${at}: text content blocks must contain non-whitespace text`);
}

function toolName(name: unknown, most: number): void {
  must(/^[a-zA-Z0-9_-]+$/.test(text(name)) && text(name).length <= most, `tool name: ${text(name)}`);
}

function marks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + marks(one), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [name, one]) => sum + (name === 'cache_control' ? 1 : marks(one)), 0);
}

function parsed(value: unknown): unknown {
  try {
    return JSON.parse(text(value));
  } catch {
    return null;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fields(value: unknown): Fields {
  return isObject(value) ? (value as Fields) : {};
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
