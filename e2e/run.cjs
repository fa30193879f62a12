'use strict';
/**
 * `npm test`: brings what the tests need and runs every one of them: checks (types, lint, format, unused code, rooms), unit tests, and the
 * stories in a real browser against a real daemon. A stage that fails does not keep the next from running. The last line is the sum,
 * `N passed, N failed`; it counts a stage that failed without naming a test as one failure, so it never says 0 where something is wrong. An old Node must be able to parse this file, to be told that it is one.
 */
const { spawnSync } = require('child_process');
const { mkdirSync, readFileSync, rmSync } = require('fs');
const { join } = require('path');
const prepare = require('../daemon/prepare.cjs');

prepare.requireNode();
prepare.installPackages();
const chromium = require('./chromium.cjs').bring();

const reports = join(prepare.root, 'test-results', 'reports');
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });

const npm = prepare.npmCommand();
const stages = [
  stage('check', npm.command, [...npm.args, 'run', '--silent', 'check'], {}, countNothing),
  buildStage(),
  stage(
    'unit',
    process.execPath,
    [bin('vitest', 'vitest.mjs'), 'run', '--reporter=dot', '--reporter=json', `--outputFile.json=${report('unit')}`],
    {},
    countVitest,
  ),
  stage(
    'stories',
    process.execPath,
    [bin('@playwright/test', 'cli.js'), 'test', '--config', 'e2e/playwright.config.ts', '--reporter=list,json'],
    { E2E_CHROMIUM: chromium.executablePath || '', PLAYWRIGHT_JSON_OUTPUT_FILE: report('stories') },
    countPlaywright,
  ),
];

process.stdout.write('\n');
for (const { name, ok, passed, failed, skipped, seconds } of stages) {
  const sum = passed + failed + skipped === 0 ? (ok ? 'passed' : 'failed') : `${passed} passed, ${failed} failed`;
  const left = skipped > 0 ? `, ${skipped} skipped` : '';
  process.stdout.write(`${name.padEnd(8)} ${sum}${left} (${seconds} s)\n`);
}
const passed = stages.reduce((sum, one) => sum + one.passed, 0);
const failed = stages.reduce((sum, one) => sum + (one.ok ? one.failed : Math.max(1, one.failed)), 0);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

function stage(name, command, args, env, count) {
  process.stdout.write(`\n── ${name}\n`);
  const startedAt = Date.now();
  const { status } = spawnSync(command, args, {
    cwd: prepare.root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const counted = count(name);
  return { name, ok: status === 0, ...counted, seconds: secondsSince(startedAt) };
}

/** The build ends this process where it fails: without it there is nothing that a story could be told to. */
function buildStage() {
  process.stdout.write('\n── build\n');
  const startedAt = Date.now();
  prepare.build(false);
  return { name: 'build', ok: true, ...countNothing(), seconds: secondsSince(startedAt) };
}

function countNothing() {
  return { passed: 0, failed: 0, skipped: 0 };
}

function countVitest(name) {
  const result = readReport(name);
  if (result === null) return countNothing();
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

function countPlaywright(name) {
  const result = readReport(name);
  if (result === null) return countNothing();
  const { expected, unexpected, flaky, skipped } = result.stats;
  return { passed: expected, failed: unexpected + flaky, skipped };
}

/** Null where the stage ended before it wrote one: then it has failed, and counts as such. */
function readReport(name) {
  try {
    return JSON.parse(readFileSync(report(name), 'utf8'));
  } catch (missing) {
    process.stderr.write(`${name} left no report: ${missing.message}\n`);
    return null;
  }
}

function report(name) {
  return join(reports, `${name}.json`);
}

function bin(name, file) {
  return join(prepare.root, 'node_modules', name, file);
}

function secondsSince(startedAt) {
  return Math.round((Date.now() - startedAt) / 1000);
}
