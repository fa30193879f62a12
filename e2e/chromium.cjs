'use strict';
/**
 * Where a Chromium is, and how one comes here. `find` looks: E2E_CHROMIUM (empty: Playwright's own), the PATH, what Playwright downloaded.
 * `bring` looks and, where there is none that runs, downloads Playwright's, or installs the system's where this is Debian and we are root,
 * or says in one sentence what to install. An executable counts only when it answers `--version`: some systems hold a mere hint to install one.
 */
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { delimiter, join } = require('node:path');
const prepare = require('../daemon/prepare.cjs');

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** A first start of a browser on a slow disk. */
const answerMs = 30_000;
/** Playwright's Chromium is about 170 MB; where the download is blocked it should not take a coffee to find out. */
const downloadMs = 5 * 60_000;
const systemPackageMs = 10 * 60_000;

/** @returns {{ executablePath: string | null } | null} a null path: Playwright's own */
function find() {
  const named = process.env.E2E_CHROMIUM;
  if (named !== undefined && named !== '') return runs(named) ? { executablePath: named } : null;
  if (named === undefined) {
    const found = onPath().find(runs);
    if (found !== undefined) return { executablePath: found };
  }
  return downloaded() ? { executablePath: null } : null;
}

function onPath() {
  const folders = (process.env.PATH || '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).filter((file) => existsSync(file));
}

function downloaded() {
  const file = require('@playwright/test').chromium.executablePath();
  return existsSync(file) && runs(file);
}

function runs(file) {
  return spawnSync(file, ['--version'], { stdio: 'ignore', timeout: answerMs }).status === 0;
}

/** @returns {{ executablePath: string | null }} or exits with a sentence */
function bring() {
  const found = find();
  if (found !== null) return found;
  if (process.env.E2E_CHROMIUM) giveUp(`E2E_CHROMIUM names ${process.env.E2E_CHROMIUM}, which does not run.`);

  const playwright = join(prepare.root, 'node_modules', '@playwright', 'test', 'cli.js');
  attempt("Downloading Playwright's Chromium", process.execPath, [playwright, 'install', 'chromium'], downloadMs);
  const fromPlaywright = find();
  if (fromPlaywright !== null) return fromPlaywright;

  const wantsPlaywrights = process.env.E2E_CHROMIUM === '';
  if (!wantsPlaywrights && existsSync('/etc/debian_version') && process.getuid && process.getuid() === 0) {
    attempt('Reading the package lists', 'apt-get', ['update'], systemPackageMs);
    const wanted = ['install', '-y', '--no-install-recommends', 'chromium'];
    attempt("Installing the system's Chromium", 'apt-get', wanted, systemPackageMs);
    const fromSystem = find();
    if (fromSystem !== null) return fromSystem;
  }
  return giveUp('No Chromium was found, and none could be brought.');
}

/** Failing is no end: what it should have brought is looked for afterwards. */
function attempt(title, command, args, timeout) {
  const startedAt = Date.now();
  process.stderr.write(`${title} … `);
  const ended = spawnSync(command, args, {
    cwd: prepare.root,
    env: {
      ...prepare.environment(),
      DEBIAN_FRONTEND: 'noninteractive',
      PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '30000',
    },
    stdio: 'ignore',
    timeout,
    killSignal: 'SIGKILL',
  });
  const elapsed = `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
  process.stderr.write(ended.status === 0 ? `${elapsed}\n` : `did not work (${elapsed})\n`);
}

function giveUp(why) {
  process.stderr.write(
    `${why} Install Chromium or Google Chrome (Debian, Ubuntu: apt-get install chromium; macOS: brew install --cask chromium), or set E2E_CHROMIUM to its path, and run the same line again.\n`,
  );
  return process.exit(1);
}

/** How it is started everywhere: with nothing of its own on the network, and as root without the sandbox that root cannot have. */
const quietArguments = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

module.exports = { find, bring, quietArguments };
