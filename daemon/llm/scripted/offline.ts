/**
 * `offline/demo`: the built-in model that needs neither network nor key. It is a fixed script and says so; what it does in the folder is real,
 * through the same tools and approvals as a model's. It keeps no memory of its own: what comes next follows from the request's items alone,
 * so it goes on rightly after a crash, and it reports no usage, since it has no tokens to count.
 *
 * An exchange is the last input with what was called and answered since. The first input of a conversation starts the tour, unless it is one
 * of the few commands it knows; an input that it does not know is answered honestly.
 */
import type { JsonObject } from '#protocol/values/json.ts';
import type { Item, ItemPart, ModelRequest } from '../item.ts';
import type { ModelClient } from '../model-stream.ts';
import { playReply, type Reply } from './scripted.ts';

export interface Paces {
  /** Before each word and each counted line: slow enough to be watched. */
  wordMs: number;
  lineMs: number;
}

const watchable: Paces = { wordMs: 25, lineMs: 50 };

export function offlineModel(paces: Paces = watchable): ModelClient {
  const closing = new AbortController();
  return {
    stream: (request, signal) => playReply(() => demoReply(request, paces), AbortSignal.any([signal, closing.signal])),
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

/** What the demo says and does next. Pure. */
export function demoReply(request: ModelRequest, paces: Paces): Reply {
  const exchange = readExchange(request);
  const order = readOrder(exchange.input);
  const opening = exchange.untouched && exchange.first ? introduction(order.order === 'unknown') : '';
  const say = (text: string): Reply => [{ type: 'say', text: opening + text, paceMs: paces.wordMs }];
  const move = nextMove(order, exchange);
  switch (move.move) {
    case 'call': {
      const call = { type: 'call', tool: move.tool, arguments: move.arguments } as const;
      const words = opening + move.text;
      return words === '' ? [call] : [...say(move.text), call];
    }
    case 'answer':
      return say(move.text);
    case 'count': {
      const lines = Array.from({ length: move.to }, (_, index) => `${index + 1}\n`);
      return [...(opening === '' ? [] : say('')), { type: 'say', text: lines, paceMs: paces.lineMs }];
    }
    case 'think':
      return [
        { type: 'reason', text: move.thought, paceMs: paces.wordMs },
        { type: 'say', text: opening + move.text, paceMs: paces.wordMs },
      ];
    case 'fail':
      return [
        ...say('I begin an answer, and then the provider fails, as you asked. '),
        {
          type: 'fail',
          failure: {
            code: 'provider_failed',
            message: 'The scripted demo failed on purpose, as it was asked to. Send another message to go on.',
          },
        },
      ];
  }
}

type Move =
  | { move: 'call'; text: string; tool: string; arguments: JsonObject }
  | { move: 'answer'; text: string }
  | { move: 'count'; to: number }
  | { move: 'think'; thought: string; text: string }
  | { move: 'fail' };

interface Exchange {
  input: string;
  /** No reply came before this input. */
  first: boolean;
  /** Nothing was said or done since this input. */
  untouched: boolean;
  calls: DoneCall[];
  offered: ReadonlySet<string>;
}

interface DoneCall {
  tool: string;
  arguments: Record<string, unknown>;
  failed: boolean;
  /** The result's text. */
  text: string;
}

type Order =
  | { order: 'list'; folder: string | null }
  | { order: 'read'; path: string }
  | { order: 'write'; path: string; text: string }
  | { order: 'edit'; path: string }
  | { order: 'replace'; path: string; before: string; after: string }
  | { order: 'run'; command: string }
  | { order: 'count'; to: number }
  | { order: 'think' | 'help' | 'tour' | 'fail' | 'unknown' };

function readExchange(request: ModelRequest): Exchange {
  const last = request.items.findLastIndex((item) => item.type === 'person');
  const person = request.items[last];
  const since = request.items.slice(last + 1);
  const calls = since
    .flatMap((item) => (item.type === 'reply' ? item.pieces : []))
    .flatMap((piece): DoneCall[] => {
      if (piece.type !== 'tool-call') return [];
      const result = since.find((item) => item.type === 'result' && item.callId === piece.callId);
      return [{ tool: piece.tool, arguments: objectOf(piece.argumentsText), ...outcomeOf(result) }];
    });
  return {
    input: person?.type === 'person' ? textOf(person.parts).trim() : '',
    first: !request.items.slice(0, Math.max(last, 0)).some((item) => item.type === 'reply'),
    untouched: since.length === 0,
    calls,
    offered: new Set(request.tools.map((tool) => tool.name)),
  };
}

function outcomeOf(result: Item | undefined): Pick<DoneCall, 'failed' | 'text'> {
  if (result?.type !== 'result') return { failed: true, text: 'No result came.' };
  return { failed: result.failed, text: textOf(result.parts) };
}

function readOrder(input: string): Order {
  const [, verb = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(input) ?? [];
  const one = unquoted(rest);
  switch (verb.toLowerCase().replace(/[.!?]$/, '')) {
    case 'list':
    case 'ls':
      return /^\S*$/.test(one) ? { order: 'list', folder: one === '' ? null : one } : { order: 'unknown' };
    case 'read':
      return one === '' ? { order: 'unknown' } : { order: 'read', path: one };
    case 'write': {
      const [, path = '', text = ''] = /^("[^"]+"|\S+)\s+([\s\S]+)$/.exec(rest) ?? [];
      return path === '' ? { order: 'unknown' } : { order: 'write', path: unquoted(path), text };
    }
    case 'edit': {
      const [, path = '', before = '', after = ''] = /^("[^"]+"|\S+)\s+([\s\S]+?)\s+=>\s+([\s\S]+)$/.exec(rest) ?? [];
      if (path !== '') return { order: 'replace', path: unquoted(path), before, after };
      return one === '' ? { order: 'unknown' } : { order: 'edit', path: one };
    }
    case 'run':
      return rest === '' ? { order: 'unknown' } : { order: 'run', command: rest };
    case 'count': {
      const to = Number(/^(?:up )?to (\d{1,4})\b/i.exec(rest)?.[1] ?? 0);
      return to > 0 ? { order: 'count', to: Math.min(to, 1000) } : { order: 'unknown' };
    }
    case 'think':
      return { order: 'think' };
    case 'help':
      return one === '' ? { order: 'help' } : { order: 'unknown' };
    case 'tour':
      return one === '' ? { order: 'tour' } : { order: 'unknown' };
    case 'fail':
      return one === '' ? { order: 'fail' } : { order: 'unknown' };
    default:
      return { order: 'unknown' };
  }
}

function nextMove(order: Order, exchange: Exchange): Move {
  switch (order.order) {
    case 'list': {
      const command = order.folder === null ? 'ls -la' : `ls -la -- ${shellWord(order.folder)}`;
      return single(exchange, 'bash', { command }, (call) => `This is what is there:\n\n${fenced(call.text, 40)}`);
    }
    case 'read':
      return single(
        exchange,
        'read',
        { path: order.path },
        (call) => `I read \`${order.path}\`. It begins:\n\n${fenced(call.text, 12)}`,
      );
    case 'write':
      return single(
        exchange,
        'write',
        { path: order.path, content: `${order.text}\n` },
        () => `I wrote \`${order.path}\`.`,
      );
    case 'run':
      return single(
        exchange,
        'bash',
        { command: order.command },
        (call) => `It ran, and this came out:\n\n${fenced(call.text, 40)}`,
      );
    case 'replace':
      return readThenEdit(exchange, order.path, () => ({ oldText: order.before, newText: order.after }));
    case 'edit':
      return readThenEdit(exchange, order.path, (text) => {
        const line = uniqueLine(text);
        return line === null ? null : { oldText: line, newText: `${line}\n${editedLine}` };
      });
    case 'count':
      return { move: 'count', to: order.to };
    case 'think':
      return {
        move: 'think',
        thought:
          'A model with reasoning would weigh its next step here. I only follow a script, so this text is fixed. ' +
          'It shows where reasoning appears, and that it is kept apart from the answer.',
        text: 'That was reasoning, as far as a script can show it: fixed words, no thought behind them.',
      };
    case 'fail':
      return { move: 'fail' };
    case 'help':
      return { move: 'answer', text: help };
    case 'tour':
      return tourMove(exchange);
    case 'unknown':
      return exchange.first
        ? tourMove(exchange)
        : { move: 'answer', text: `I am only the scripted demo, no AI, so I cannot answer that. ${help}` };
  }
}

/** One call, then what came of it. */
function single(exchange: Exchange, tool: string, args: JsonObject, report: (call: DoneCall) => string): Move {
  const call = exchange.calls[0];
  if (call === undefined) {
    if (!exchange.offered.has(tool)) return { move: 'answer', text: notOffered(tool) };
    return { move: 'call', text: '', tool, arguments: args };
  }
  return { move: 'answer', text: call.failed ? notDone(call) : report(call) };
}

/** An edit needs the file's text first; `choose` finds the place in it, or null where there is none. */
function readThenEdit(
  exchange: Exchange,
  path: string,
  choose: (text: string) => { oldText: string; newText: string } | null,
): Move {
  const [read, edit] = exchange.calls;
  for (const tool of ['read', 'edit']) {
    if (!exchange.offered.has(tool)) return { move: 'answer', text: notOffered(tool) };
  }
  if (read === undefined) return { move: 'call', text: '', tool: 'read', arguments: { path } };
  if (read.failed) return { move: 'answer', text: notDone(read) };
  if (edit !== undefined) return { move: 'answer', text: edit.failed ? notDone(edit) : `I edited \`${path}\`.` };
  const change = choose(withoutLineNumbers(read.text));
  if (change === null)
    return { move: 'answer', text: `I found no line in \`${path}\` that stands there only once, so I left it.` };
  return { move: 'call', text: '', tool: 'edit', arguments: { path, edits: [change] } };
}

const demoFile = 'alcove-demo.md';
const lookCommand = 'ls -1Ap';
const showCommand = `cat ${demoFile}`;
const editedLine = 'This line was added by the scripted demo of Alcove.';
const visitLine = (count: number) => `Visit ${count} of the scripted demo.`;

/** Look, read a file, write or edit one, run a command, sum up; whatever is refused on the way is left out, and said. */
function tourMove(exchange: Exchange): Move {
  const { calls, offered } = exchange;
  const done = (tool: string, field: string, value: string) =>
    calls.find((call) => call.tool === tool && call.arguments[field] === value);

  const look = done('bash', 'command', lookCommand);
  if (look === undefined && offered.has('bash') && calls.length === 0) {
    return step('First I look at the folder.', 'bash', { command: lookCommand });
  }
  const names = look === undefined || look.failed ? null : namesIn(look.text);

  const text = names === null ? 'README.md' : firstTextFile(names);
  const seen = text === null ? undefined : done('read', 'path', text);
  if (text !== null && seen === undefined && offered.has('read')) {
    return step(`Now I read a file, \`${text}\`.`, 'read', { path: text });
  }

  const change = calls.find((call) => call.tool === 'write' || call.tool === 'edit');
  if (change === undefined && offered.has('write') && offered.has('edit') && offered.has('read')) {
    const before = done('read', 'path', demoFile);
    const missing = names !== null ? !names.includes(demoFile) : before?.failed === true;
    if (missing) {
      const content = `# Alcove demo\n\nThe scripted demo of Alcove wrote this file. You can delete it.\n\n${visitLine(1)}\n`;
      return step(`Next I write a small file, \`${demoFile}\`.`, 'write', { path: demoFile, content });
    }
    if (before === undefined) return step(`I look whether \`${demoFile}\` is there.`, 'read', { path: demoFile });
    const visits = [...before.text.matchAll(/Visit (\d+) of the scripted demo\./g)].map((match) => Number(match[1]));
    const last = Math.max(...visits);
    if (!before.failed && visits.length > 0) {
      const edits = [{ oldText: visitLine(last), newText: `${visitLine(last)}\n${visitLine(last + 1)}` }];
      return step(`\`${demoFile}\` is there from an earlier visit, so I add a line.`, 'edit', {
        path: demoFile,
        edits,
      });
    }
  }
  if (change?.failed === false && offered.has('bash') && done('bash', 'command', showCommand) === undefined) {
    return step('Last I run a command that shows the file.', 'bash', { command: showCommand });
  }
  return { move: 'answer', text: summary(exchange, change) };
}

function step(text: string, tool: string, args: JsonObject): Move {
  return { move: 'call', text, tool, arguments: args };
}

/** What happened, call by call, in the words of the results. */
function summary(exchange: Exchange, change: DoneCall | undefined): string {
  const lines = exchange.calls.map((call) => {
    const what = `${verbs[call.tool] ?? call.tool} \`${targetOf(call)}\``;
    return call.failed ? `- ${what}: did not happen. ${quoted(call.text)}` : `- ${what}: done.`;
  });
  const failed = exchange.calls.filter((call) => call.failed).length;
  const missing = ['bash', 'read', 'write', 'edit'].filter((tool) => !exchange.offered.has(tool));
  const sentences = [
    lines.length === 0
      ? 'That was a short tour: I called no tool.'
      : `That was the tour. What happened:\n\n${lines.join('\n')}\n\n`,
    missing.length > 0 ? `I was not offered ${listed(missing)} here, so I left that out. ` : '',
    failed > 0 ? `${failed} of ${exchange.calls.length} steps did not happen; I went on without them. ` : '',
    change === undefined ? 'No file was changed. ' : change.failed ? 'No file was changed by me. ' : '',
    `Write \`help\` to see what else I can do.`,
  ];
  return sentences.join('');
}

const verbs: Record<string, string> = { bash: 'Run', read: 'Read', write: 'Write', edit: 'Edit' };

function introduction(tour: boolean): string {
  return (
    'Hello, I am the scripted demo that comes with Alcove: a fixed program, no AI, and I understand only a few words. ' +
    'What I do in your folder is real all the same, through the same tools and approvals as a model would. ' +
    (tour ? 'Here is a short tour; stop or refuse whatever you like.\n\n' : '\n\n')
  );
}

const help = `What I can do:

- \`tour\`: look around, read a file, write \`${demoFile}\`, run a command
- \`list\`, or \`list FOLDER\`
- \`read FILE\`
- \`write FILE TEXT\`
- \`edit FILE\` adds a line; \`edit FILE OLD => NEW\` replaces text
- \`run COMMAND\`
- \`count to 100\`, slowly: good to watch, steer and stop
- \`think\`: shows how reasoning looks
- \`fail\`: shows how a failing provider looks

For real work, configure a provider in the settings and choose its model.`;

function notOffered(tool: string): string {
  return `I would need the tool \`${tool}\` for that, and it is not offered to me in the present mode. Nothing was done.`;
}

function notDone(call: DoneCall): string {
  return `That did not happen: ${(verbs[call.tool] ?? call.tool).toLowerCase()} \`${targetOf(call)}\`. ${quoted(call.text)}`;
}

function targetOf(call: DoneCall): string {
  const target = call.arguments['command'] ?? call.arguments['path'];
  return typeof target === 'string' ? target : '';
}

function quoted(text: string): string {
  const line =
    text
      .split('\n')
      .find((one) => one.trim() !== '')
      ?.trim() ?? '';
  if (line === '') return 'The result says nothing.';
  return `The result says: “${line.length > 300 ? `${line.slice(0, 300)}…` : line}”`;
}

/** The first lines in a fence longer than any within. */
function fenced(text: string, limit: number): string {
  const lines = text.replace(/\n+$/, '').split('\n');
  if (lines.join('') === '') return '(nothing)';
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  const rest = lines.length > limit ? `\n\n${lines.length - limit} more lines are in the result above.` : '';
  return `${fence}\n${lines.slice(0, limit).join('\n')}\n${fence}${rest}`;
}

/** Names of plain files in a listing; what does not look like one (notes, odd names) is passed over. */
function namesIn(listing: string): string[] {
  return listing
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^[\w][\w.-]*$/.test(line));
}

function firstTextFile(names: string[]): string | null {
  const readme = names.find((name) => /^readme(\.\w+)?$/i.test(name));
  return (
    readme ??
    names.find((name) => /\.(md|txt|json|ya?ml|toml|[cm]?[jt]s|py|rs|go|c|h|css|html|sh)$/i.test(name)) ??
    null
  );
}

/** Takes the line numbers off that a read puts before each line, if it does. */
function withoutLineNumbers(text: string): string {
  const lines = text.split('\n');
  const numbered = /^\s*\d+(?:\t|→|: ?| ?\| ?)/;
  const all = lines.filter((line) => line !== '');
  return all.length > 0 && numbered.test(all[0] ?? '')
    ? lines.map((line) => line.replace(numbered, '')).join('\n')
    : text;
}

/** The last line of some length that stands in the text once. */
function uniqueLine(text: string): string | null {
  const lines = text.split('\n').filter((line) => line.trim().length > 3 && !/^[[(].*[\])]$/.test(line));
  return lines.findLast((line) => text.split(line).length === 2) ?? null;
}

function textOf(parts: ItemPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function objectOf(argumentsText: string): Record<string, unknown> {
  return JSON.parse(argumentsText) as Record<string, unknown>;
}

function unquoted(text: string): string {
  return text.trim().replace(/^(["'`])([\s\S]*)\1$/, '$2');
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function listed(names: string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
