'use strict';
/**
 * `npm start`: prepares what is missing (see prepare.cjs) and becomes the daemon, in this very process: signals, exit code and terminal are
 * the daemon's own. Arguments go to it: `npm start -- --port 0`. Old syntax, so that an old Node gets a sentence and not a syntax error.
 */
const path = require('path');
const url = require('url');
const prepare = require('./prepare.cjs');

prepare.requireNode();
prepare.installPackages();
prepare.build(false);

const entry = path.join(prepare.root, 'dist', 'daemon', 'main.js');
process.argv[1] = entry;
// `import()` written out is a syntax error on the Nodes that the sentence above is for.
const load = new Function('address', 'return import(address)');
load(url.pathToFileURL(entry).href).catch(function (failure) {
  process.stderr.write(String((failure && failure.stack) || failure) + '\n');
  process.exitCode = 1;
});
