/**
 * Lets the app open without the daemon. It keeps the shell and nothing else: what the first screen needs is fetched on installing, other
 * files of the build on first use. Invariants:
 *   K1  it never touches a data path, never holds a token, never answers for another origin
 *   K2  it never passes a navigation on: sent from here it would name another site and no document, which the daemon's fence refuses
 *   K3  a new version waits until the page says so; nothing is reloaded under a draft
 */
/// <reference types="@sveltejs/kit" />
import { build, files, version } from '$service-worker';

const worker = self as unknown as ServiceWorkerGlobalScope;
const cacheName = `alcove-shell-${version}`;
/** Longer than a daemon on this machine takes to answer, shorter than a person waits. */
const navigationMs = 1_500;
/** Only these are files of the app; every other path is data, or not ours. */
const shellFiles = new Set([...build, ...files]);
/** Where the app begins, and its pages; what they import is found on installing. */
const starts = build.filter((path) => /\/(?:entry|nodes)\//.test(path) || path.endsWith('.css'));
/** Pictures that only a browser's install dialog shows stay out. */
const shown = files.filter((path) => !path.startsWith('/screenshots/'));

worker.addEventListener('install', (event) => {
  event.waitUntil(install());
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(activate());
});

worker.addEventListener('message', (event) => {
  if ((event.data as { type?: unknown } | null)?.type === 'SKIP_WAITING') void worker.skipWaiting();
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== worker.location.origin) return;
  if (request.mode === 'navigate') {
    if (isPage(url.pathname)) event.respondWith(page());
  } else if (shellFiles.has(url.pathname)) event.respondWith(file(url.pathname));
});

/** A route of the app. Data and files that a person opens by hand go to the daemon as they are. */
function isPage(path: string): boolean {
  return !/^\/(?:ws|rpc|pair|blobs|health|sessions)(?:\/|$)/.test(path) && !shellFiles.has(path);
}

async function install(): Promise<void> {
  const cache = await caches.open(cacheName);
  await Promise.all([cache.addAll(['/', ...shown]), keepWithImports(cache, starts)]);
}

/** Keeps scripts and all that they import at once; what they import when it is needed is kept then. */
async function keepWithImports(cache: Cache, paths: readonly string[]): Promise<void> {
  const known = new Set(paths);
  let next = [...paths];
  while (next.length > 0) {
    const found = await Promise.all(next.map((path) => keep(cache, path)));
    next = found.flat().filter((path) => shellFiles.has(path) && !known.has(path));
    for (const path of next) known.add(path);
    next = [...new Set(next)];
  }
}

/** Answers what the file imports at once. */
async function keep(cache: Cache, path: string): Promise<string[]> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path} could not be fetched: ${answer.status}`);
  await cache.put(path, answer.clone());
  if (!path.endsWith('.js')) return [];
  const script = await answer.text();
  return [...script.matchAll(/(?:from|import)\s*["'](\.{1,2}\/[^"']+)["']/g)].map(
    (match) => new URL(match[1] ?? '', new URL(path, worker.location.origin)).pathname,
  );
}

async function activate(): Promise<void> {
  for (const name of await caches.keys()) if (name !== cacheName) await caches.delete(name);
  await worker.clients.claim();
}

/** From the daemon where it answers soon, so that its shell and its policy are its own; else as it was kept. */
async function page(): Promise<Response> {
  const cache = await caches.open(cacheName);
  const kept = await cache.match('/');
  try {
    const answer = await fetch('/', kept === undefined ? {} : { signal: AbortSignal.timeout(navigationMs) });
    if (answer.ok || kept === undefined) return answer;
  } catch (error) {
    if (kept === undefined) throw error;
  }
  return kept;
}

/** Files of a build never change under their name. */
async function file(path: string): Promise<Response> {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(path);
  if (kept !== undefined) return kept;
  const answer = await fetch(path);
  if (answer.ok) await cache.put(path, answer.clone());
  return answer;
}
