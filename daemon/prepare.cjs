'use strict';
/**
 * What a fresh checkout needs before anything of ours can run: a Node that is new enough, the packages of the lock, and a build. Each is
 * done only where it is missing or out of date, told by a stamp that holds a hash, so that a second start costs milliseconds.
 *
 * CommonJS in old syntax on purpose: an old Node must be able to parse this file, since it is this file that tells it apart.
 * `node daemon/prepare.cjs build` builds whatever the stamp says.
 */
const childProcess = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');

const root = path.resolve(__dirname, '..');
const packagesStamp = path.join(root, 'node_modules', '.alcove-stamp');
const buildStamp = path.join(root, 'dist', '.stamp');

/** What vite, the strictest of the packages, accepts. The same range stands in package.json under `engines`. */
function isNewEnough(version) {
  const numbers = version.replace(/^v/, '').split('.').map(Number);
  const major = numbers[0];
  const minor = numbers[1];
  return major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
}

function requireNode() {
  if (isNewEnough(process.version)) return;
  process.stderr.write(
    'Alcove needs Node 20 or newer; this is ' +
      process.version +
      '. Install Node 20.19, 22.12 or anything later from https://nodejs.org and run the same line again.\n',
  );
  process.exit(1);
}

/** Installs what the lock says, where that is not what is there. Exits with the installer's own words where that fails. */
function installPackages() {
  const wanted = hashOf([fs.readFileSync(path.join(root, 'package-lock.json'))]);
  if (readOrNull(packagesStamp) === wanted) return;
  if (!holdsLockedPackages()) {
    const npm = npmCommand();
    step(
      'Installing packages (about a minute the first time)',
      npm.command,
      npm.args.concat(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']),
    );
  }
  fs.writeFileSync(packagesStamp, wanted);
}

/** Builds page and daemon into dist/, where the sources are not those of the build that is there. */
function build(force) {
  const wanted = sourcesHash();
  if (!force && readOrNull(buildStamp) === wanted) return;
  remove(buildStamp);
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  step('Building the app', process.execPath, [vite, 'build', '--logLevel', 'warn']);
  step('Building the daemon', process.execPath, [
    vite,
    'build',
    '--config',
    'vite.daemon.config.ts',
    '--logLevel',
    'warn',
  ]);
  fs.chmodSync(path.join(root, 'dist', 'daemon', 'main.js'), 0o755);
  fs.writeFileSync(buildStamp, wanted);
}

/** One line that says what takes long, and how long it took. The command's own words are shown only where it failed. */
function step(title, command, args) {
  const startedAt = Date.now();
  process.stderr.write(title + ' … ');
  const ended = childProcess.spawnSync(command, args, {
    cwd: root,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const elapsed = ((Date.now() - startedAt) / 1000).toFixed(1) + ' s';
  if (ended.status === 0) {
    process.stderr.write(elapsed + '\n');
    return;
  }
  process.stderr.write('failed after ' + elapsed + '\n' + String(ended.stdout || '') + String(ended.stderr || ''));
  if (ended.error) process.stderr.write(String(ended.error.message) + '\n');
  process.stderr.write('\n' + title + ' failed; what ' + [command].concat(args).join(' ') + ' said stands above.\n');
  process.exit(1);
}

/** The npm that started us, else the one that belongs to this Node, else the one on the PATH: always under this very Node. */
function npmCommand() {
  const beside = path.dirname(process.execPath);
  const candidates = [
    process.env.npm_execpath || '',
    path.join(beside, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    path.join(beside, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    path.join(beside, '..', 'share', 'nodejs', 'npm', 'bin', 'npm-cli.js'),
  ];
  const script = candidates.find(function (candidate) {
    return path.basename(candidate) === 'npm-cli.js' && fs.existsSync(candidate);
  });
  return script ? { command: process.execPath, args: [script] } : { command: 'npm', args: [] };
}

/** Scripts of packages find this Node first, and nothing is left out because somebody calls the machine "production". */
function environment() {
  const changed = Object.assign({}, process.env, {
    PATH: path.dirname(process.execPath) + path.delimiter + (process.env.PATH || ''),
    NO_COLOR: '1',
  });
  delete changed.NODE_ENV;
  delete changed.FORCE_COLOR;
  return changed;
}

/** True where somebody installed by hand exactly what the lock names; what is optional may be missing. */
function holdsLockedPackages() {
  const installed = readJson(path.join(root, 'node_modules', '.package-lock.json'));
  const locked = readJson(path.join(root, 'package-lock.json'));
  if (installed === null || locked === null) return false;
  return Object.keys(locked.packages).every(function (place) {
    if (place === '') return true;
    const want = locked.packages[place];
    const have = installed.packages[place];
    if (have === undefined) return want.optional === true;
    return have.version === want.version && have.integrity === want.integrity;
  });
}

/** A hash of everything that can change what a build makes; tests and texts cannot. */
function sourcesHash() {
  const settings = [
    'package.json',
    'package-lock.json',
    'svelte.config.js',
    'tsconfig.base.json',
    'vite.config.ts',
    'vite.daemon.config.ts',
  ];
  const files = settings.concat(filesUnder('protocol'), filesUnder('daemon'), filesUnder('web'));
  const pieces = [];
  files.sort().forEach(function (file) {
    pieces.push(Buffer.from(file + '\0'), fs.readFileSync(path.join(root, file)));
  });
  return hashOf(pieces);
}

function filesUnder(folder) {
  let found = [];
  fs.readdirSync(path.join(root, folder)).forEach(function (name) {
    const file = folder + '/' + name;
    if (fs.statSync(path.join(root, file)).isDirectory()) {
      if (name !== 'fixtures' && name !== 'testing') found = found.concat(filesUnder(file));
    } else if (!/\.(test|bench)\.ts$|\.md$|\.cjs$/.test(name)) {
      found.push(file);
    }
  });
  return found;
}

function hashOf(pieces) {
  const hash = crypto.createHash('sha256');
  pieces.forEach(function (piece) {
    hash.update(piece);
  });
  return hash.digest('hex');
}

function readOrNull(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (missing) {
    if (missing.code === 'ENOENT' || missing.code === 'ENOTDIR') return null;
    throw missing;
  }
}

/** Null where the file is missing or not JSON: then what it describes is made anew. */
function readJson(file) {
  const text = readOrNull(file);
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch (notJson) {
    return null;
  }
}

function remove(file) {
  if (fs.existsSync(file)) fs.unlinkSync(file);
}

module.exports = { root, requireNode, installPackages, build, npmCommand, environment };

if (require.main === module) {
  requireNode();
  installPackages();
  build(process.argv[2] === 'build');
}
