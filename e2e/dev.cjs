'use strict';
/**
 * `npm run dev`: the daemon from its sources, started again on each change, and vite's server for the page in front of it. The home is one of
 * the checkout's own (.cache/home) unless ALCOVE_HOME names another, so that the person's own daemon can go on running. Both end together.
 */
const { spawn } = require('child_process');
const { join } = require('path');
const prepare = require('../daemon/prepare.cjs');

prepare.requireNode();
prepare.installPackages();

const port = process.env.ALCOVE_DEV_PORT || '7718';
const env = {
  ...process.env,
  ALCOVE_HOME: process.env.ALCOVE_HOME || join(prepare.root, '.cache', 'home'),
  ALCOVE_DEV_DAEMON: `http://127.0.0.1:${port}`,
};

const vite = join(prepare.root, 'node_modules', 'vite', 'bin', 'vite.js');
const programs = [
  start(['--watch', '--import', 'tsx', 'daemon/cli/main.ts', '--port', port, '--no-open', ...process.argv.slice(2)]),
  start([vite, '--host', 'localhost', '--strictPort', '--port', '5173']),
];
process.stderr.write(
  `The page is at http://localhost:5173; pair it with the typed code, or with the link's port replaced by 5173.\n`,
);

// A terminal sends Ctrl+C to all of us; a signal that came to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => endAll(signal));

function start(args) {
  const program = spawn(process.execPath, args, { cwd: prepare.root, env, stdio: 'inherit' });
  program.on('exit', (code) => {
    process.exitCode = process.exitCode || code || 1;
    endAll('SIGTERM');
  });
  return program;
}

function endAll(signal) {
  for (const program of programs) if (program.exitCode === null && program.signalCode === null) program.kill(signal);
}
