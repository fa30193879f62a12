/**
 * Brings a pinned npm package of a contestant into a cache outside the checkout, once. Nothing is left half: a package is installed aside and
 * moved to its place when all of it is there. Who cannot be had here, without a network or on this Node, is told with npm's own reason.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Availability } from '../contestant.ts';

const run = promisify(execFile);
/** The largest of them brings 200 MB over the network. */
const installMs = 10 * 60_000;

export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** The program in it. */
  readonly bin: string;
}

function cacheFolder(env: NodeJS.ProcessEnv): string {
  return env['ALCOVE_BENCH_CACHE'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'alcove-bench');
}

export function programOf(wanted: PinnedPackage, env: NodeJS.ProcessEnv = process.env): string {
  return join(placeOf(wanted, env), 'node_modules', '.bin', wanted.bin);
}

function placeOf({ name, version }: PinnedPackage, env: NodeJS.ProcessEnv): string {
  return join(cacheFolder(env), `${name.replace('/', '+')}@${version}`);
}

export async function install(wanted: PinnedPackage, env: NodeJS.ProcessEnv = process.env): Promise<Availability> {
  const { name, version } = wanted;
  if (existsSync(programOf(wanted, env))) return { available: true, version };
  await mkdir(cacheFolder(env), { recursive: true });
  const aside = await mkdtemp(join(cacheFolder(env), '.installing-'));
  try {
    await writeFile(join(aside, 'package.json'), '{ "private": true }\n');
    const words = ['install', '--engine-strict', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact'];
    await run('npm', [...words, `${name}@${version}`], { cwd: aside, env, timeout: installMs });
    // Another bench may have been quicker; its copy is as good.
    await rename(aside, placeOf(wanted, env)).catch(() => undefined);
    if (existsSync(programOf(wanted, env))) return { available: true, version };
    return { available: false, reason: `${name}@${version} brings no program ${wanted.bin}` };
  } catch (error) {
    return { available: false, reason: `${name}@${version} cannot be installed: ${reasonOf(error)}` };
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** npm's own words, not the path of its log. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const lines = said.split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim());
  const words = lines.filter((line) => line !== '' && !line.includes('complete log')).slice(0, 4);
  return words.length > 0 ? words.join('; ') : String(error);
}
