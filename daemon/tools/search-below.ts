/**
 * What glob and grep share: judging the place, running the quickest search there is, with its time limit, and telling how it ended. Nothing is shown
 * that a `read` of the same file would have asked about, but for what was asked about by name.
 */
import { constants } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { searchMs } from '../base/limits.ts';
import type { CallPlace } from './call-place.ts';
import { judgeBelow, openPlace, type Place } from './paths.ts';
import { plainSearch } from './search-plain.ts';
import { ripgrepOnPath, shippedRipgrep } from './search-ripgrep.ts';
import type { FoundLine, Search, SearchRequest } from './search.ts';
import { failed, refusalOf } from './result.ts';
import type { Assessment, ToolEnvironment, ToolResult } from './tool.ts';

export type FindSearch = (environment: ToolEnvironment) => Promise<Search>;

export const quickestSearch: FindSearch = async (environment) =>
  (await shippedRipgrep()) ?? (await ripgrepOnPath(environment.processEnvironment['PATH'] ?? '')) ?? plainSearch;

export async function assessSearch(
  tool: string,
  callPlace: CallPlace,
  environment: ToolEnvironment,
): Promise<Assessment> {
  const place = await callPlace.judge(environment);
  if (place.toRead.kind === 'refused') return { effect: 'refused', reason: place.toRead.why };
  return {
    effect: 'read',
    caution: place.toRead.kind === 'asks' ? place.toRead.why : null,
    rulePattern: `${tool} ${place.shown}`,
  };
}

export interface FoundFile {
  /** As it is shown. */
  readonly path: string;
  readonly lines: readonly FoundLine[];
}

export interface Findings {
  readonly shown: string;
  readonly files: readonly FoundFile[];
  /** How it ended before its end; null for all there is. */
  readonly cut: 'enough' | 'time' | null;
}

/** `enough` is asked after each file. */
export async function searchBelow(
  callPlace: CallPlace,
  request: Pick<SearchRequest, 'pattern' | 'ignoreCase' | 'hidden' | 'maxLines' | 'wants'>,
  enough: (files: readonly FoundFile[]) => boolean,
  findSearch: FindSearch,
  environment: ToolEnvironment,
  signal: AbortSignal,
): Promise<Findings | ToolResult> {
  const place = await callPlace.find(environment);
  if (place.toRead.kind === 'refused') return failed(place.toRead.why);
  try {
    const isFolder = await isFolderAt(place);
    if (isFolder === null) return failed(`${place.shown} is neither a folder nor a regular file.`);
    const mayShow = await judgeBelow(place, environment);
    const search = await findSearch(environment);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(searchMs)]);
    const found: (FoundFile & { real: string })[] = [];
    const end = await search.run(
      {
        ...request,
        folder: isFolder ? place.real : dirname(place.real),
        only: isFolder ? null : basename(place.real),
        wants: (path) => !isFolder || (mayShow(path) && request.wants(path)),
      },
      environment,
      limit,
      (path, lines) => {
        found.push({
          path: oneLine(!isFolder ? place.shown : place.shown === '.' ? path : join(place.shown, path)),
          real: isFolder ? join(place.real, path) : place.real,
          lines,
        });
        return !enough(found);
      },
    );
    if (signal.aborted) return failed(`Searching ${place.shown} was stopped.`);
    if (end.kind === 'refused') return failed(end.problem);
    const stayed: FoundFile[] = [];
    for (const { real, ...file } of found) if (await isStill(real)) stayed.push(file);
    return {
      shown: place.shown,
      files: stayed,
      cut: end.kind === 'complete' ? null : enough(found) ? 'enough' : 'time',
    };
  } catch (error) {
    if (signal.aborted) return failed(`Searching ${place.shown} was stopped.`);
    return failed(refusalOf(error, place.shown));
  }
}

/** A line end in a name would look like two names. */
export function oneLine(name: string): string {
  return /[\n\r]/.test(name) ? JSON.stringify(name) : name;
}

/** Null for what is neither a folder nor a file. */
async function isFolderAt(place: Place): Promise<boolean | null> {
  const handle = await openPlace(place.real, constants.O_RDONLY);
  try {
    const facts = await handle.stat();
    return facts.isDirectory() ? true : facts.isFile() ? false : null;
  } finally {
    await handle.close();
  }
}

/** PM17: ripgrep opens by name; what a folder that became a link meanwhile led it to is not shown. */
async function isStill(real: string): Promise<boolean> {
  return realpath(real).then(
    (now) => now === real,
    () => false,
  );
}
