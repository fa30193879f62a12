/** `ls`: the names in one folder, all of them but the inside of anything: hidden and ignored ones too. */
import { maxListedNames } from '../base/limits.ts';
import { optionalPathArgument, prepareWith } from './arguments.ts';
import { CallPlace } from './call-place.ts';
import { completed, failed, refusalOf } from './result.ts';
import { assessSearch, oneLine } from './search-below.ts';
import { entriesOf, type Entry } from './search-plain.ts';
import type { PreparedCall, Tool, ToolEnvironment, ToolResult } from './tool.ts';

export const lsTool: Tool = {
  name: 'ls',
  description: `Lists a folder, hidden names too: / marks folders, @ links. At most ${maxListedNames} names.`,
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', description: 'Folder; the project if left out.' } },
  },
  readOnly: true,
  prepare: (args) => prepareWith(() => preparedLs(optionalPathArgument(args))),
};

function preparedLs(path: string): PreparedCall {
  const callPlace = new CallPlace(path);
  return {
    display: { title: 'List', kind: 'search', target: path },
    assess: (environment) => assessSearch('ls', callPlace, environment),
    execute: (environment) => list(environment, callPlace),
  };
}

async function list(environment: ToolEnvironment, callPlace: CallPlace): Promise<ToolResult> {
  const place = await callPlace.find(environment);
  if (place.toRead.kind === 'refused') return failed(place.toRead.why);
  try {
    const entries = await entriesOf(place.real);
    if (entries.length === 0) return completed('(the folder is empty)');
    const names = entries.slice(0, maxListedNames).map(marked);
    if (entries.length > maxListedNames)
      names.push(`[${maxListedNames} of ${entries.length} names are shown. Use glob with a pattern to find others.]`);
    return completed(names.join('\n'));
  } catch (error) {
    return failed(refusalOf(error, place.shown));
  }
}

const marks: Readonly<Record<Entry['kind'], string>> = { file: '', folder: '/', link: '@', other: '' };

function marked({ name, kind }: Entry): string {
  return oneLine(name) + marks[kind];
}
