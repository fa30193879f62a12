/** `glob`: which files there are by a pattern of their paths (TL13). */
import { maxFoundPaths, maxPatternBytes } from '../base/limits.ts';
import { optionalPathArgument, patternArgument, prepareWith } from './arguments.ts';
import { CallPlace } from './call-place.ts';
import { globPattern, type GlobPattern } from './glob-pattern.ts';
import { completed } from './result.ts';
import { assessSearch, quickestSearch, searchBelow, type FindSearch } from './search-below.ts';
import type { PreparedCall, Tool, ToolEnvironment, ToolResult } from './tool.ts';

export function globTool(findSearch: FindSearch = quickestSearch): Tool {
  return {
    name: 'glob',
    description:
      `Finds files by a path pattern (*, ?, **, [ab], {a,b}; without a slash, at any depth), sorted by path, at most ${maxFoundPaths}. ` +
      'Ignored (.gitignore), secret and, unless the pattern names one, hidden files are left out.',
    parameters: {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'Such as src/**/*.ts' },
        path: { type: 'string', description: 'Folder to look in; the project if left out.' },
      },
      required: ['pattern'],
    },
    readOnly: true,
    prepare: (args) =>
      prepareWith(() => {
        const pattern = patternArgument(args, ['pattern', 'glob'], maxPatternBytes);
        return preparedGlob(findSearch, pattern, globPattern(pattern), optionalPathArgument(args));
      }),
  };
}

function preparedGlob(findSearch: FindSearch, given: string, pattern: GlobPattern, path: string): PreparedCall {
  const callPlace = new CallPlace(path);
  return {
    display: { title: 'Find', kind: 'search', target: given, ...(path === '.' ? {} : { summary: `in ${path}` }) },
    assess: (environment) => assessSearch('glob', callPlace, environment),
    execute: (environment, signal) => find(findSearch, pattern, callPlace, environment, signal),
  };
}

async function find(
  findSearch: FindSearch,
  pattern: GlobPattern,
  callPlace: CallPlace,
  environment: ToolEnvironment,
  signal: AbortSignal,
): Promise<ToolResult> {
  const found = await searchBelow(
    callPlace,
    {
      pattern: null,
      ignoreCase: false,
      hidden: pattern.namesHidden,
      maxLines: 0,
      wants: (file) => pattern.matches(file),
    },
    (files) => files.length > maxFoundPaths,
    findSearch,
    environment,
    signal,
  );
  if ('outcome' in found) return found;
  const lines = found.files.slice(0, maxFoundPaths).map((file) => file.path);
  if (lines.length === 0) lines.push('(no file matches)');
  if (found.cut === 'time') lines.push('[The time limit was reached before the end. Name a folder with path.]');
  else if (found.cut === 'enough')
    lines.push(`[The first ${maxFoundPaths} are shown. Use a narrower pattern, or name a folder with path.]`);
  return completed(lines.join('\n'));
}
