/** `grep`: which lines of which files match a regular expression (TL13), by file, each with its number as `read` shows it. */
import { maxFoundLines, maxPatternBytes, maxResultBytes } from '../base/limits.ts';
import { flagArgument, optionalPathArgument, patternArgument, pick, prepareWith } from './arguments.ts';
import { CallPlace } from './call-place.ts';
import { globPattern, type GlobPattern } from './glob-pattern.ts';
import { completed } from './result.ts';
import { assessSearch, quickestSearch, searchBelow, type FindSearch, type FoundFile } from './search-below.ts';
import type { Tool, ToolEnvironment, ToolResult } from './tool.ts';

interface Question {
  readonly pattern: string;
  readonly callPlace: CallPlace;
  readonly glob: GlobPattern | null;
  readonly ignoreCase: boolean;
}

export function grepTool(findSearch: FindSearch = quickestSearch): Tool {
  return {
    name: 'grep',
    description:
      `Finds lines by a regular expression (ripgrep syntax), by file with line numbers, at most ${maxFoundLines}. ` +
      'Binary, ignored, secret and hidden files are left out, as in glob.',
    parameters: {
      type: 'object',
      properties: {
        pattern: { type: 'string' },
        path: { type: 'string', description: 'Folder or file; the project if left out.' },
        glob: { type: 'string', description: 'Only files that match, such as *.{ts,svelte}' },
        ignoreCase: { type: 'boolean' },
      },
      required: ['pattern'],
    },
    readOnly: true,
    prepare: (args) =>
      prepareWith(() => {
        const pattern = patternArgument(args, ['pattern', 'query', 'regex'], maxPatternBytes);
        const path = optionalPathArgument(args);
        const given = pick(args, ['glob', 'include']);
        const glob =
          given === undefined || given === '' ? null : patternArgument(args, ['glob', 'include'], maxPatternBytes);
        const question: Question = {
          pattern,
          callPlace: new CallPlace(path),
          glob: glob === null ? null : globPattern(glob),
          ignoreCase: flagArgument(pick(args, ['ignoreCase', 'ignore_case', 'case_insensitive', '-i'])),
        };
        const where = [path === '.' ? '' : `in ${path}`, glob ?? ''].filter((part) => part !== '').join(' ');
        return {
          display: { title: 'Search', kind: 'search', target: pattern, ...(where === '' ? {} : { summary: where }) },
          assess: (environment) => assessSearch('grep', question.callPlace, environment),
          execute: (environment, signal) => search(findSearch, question, environment, signal),
        };
      }),
  };
}

async function search(
  findSearch: FindSearch,
  { pattern, callPlace, glob, ignoreCase }: Question,
  environment: ToolEnvironment,
  signal: AbortSignal,
): Promise<ToolResult> {
  const found = await searchBelow(
    callPlace,
    {
      pattern,
      ignoreCase,
      hidden: glob?.namesHidden ?? false,
      maxLines: maxFoundLines + 1,
      wants: (file) => glob === null || glob.matches(file),
    },
    (files) => files.reduce((sum, file) => sum + file.lines.length, 0) > maxFoundLines,
    findSearch,
    environment,
    signal,
  );
  return 'outcome' in found ? found : answer(found.files, found.cut);
}

function answer(files: readonly FoundFile[], cut: 'enough' | 'time' | null): ToolResult {
  const lines: string[] = [];
  let shown = 0;
  let bytes = 0;
  let full = false;
  for (const file of files) {
    const texts = file.lines.map(({ number, text }) => `${number}\t${text}`);
    for (const [index, text] of texts.entries()) {
      const added = index === 0 ? [...(lines.length === 0 ? [] : ['']), file.path, text] : [text];
      const more = added.reduce((sum, one) => sum + Buffer.byteLength(one) + 1, 0);
      full ||= shown === maxFoundLines || bytes + more > maxResultBytes;
      if (full) break;
      lines.push(...added);
      bytes += more;
      shown++;
    }
    if (full) break;
  }
  if (shown === 0) lines.push('(no line matches)');
  if (full || cut === 'enough')
    lines.push(`[The first ${shown} lines are shown. Narrow the search: a longer pattern, a path, a glob.]`);
  else if (cut === 'time') lines.push('[The time limit was reached before the end. Name a path or a glob.]');
  return completed(lines.join('\n'));
}
