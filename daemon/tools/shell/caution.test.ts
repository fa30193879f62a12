import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ToolScratch } from '../../testing/tool-environment.ts';
import { bashTool } from '../bash.ts';

let scratch: ToolScratch;
beforeAll(() => {
  scratch = new ToolScratch();
});
afterAll(() => scratch.close());

async function caution(command: string): Promise<string | null> {
  const assessment = await scratch.assess(bashTool, { command });
  if (assessment.effect !== 'command') throw new Error(assessment.effect);
  return assessment.caution;
}

const outside = /^The command writes to \S+, which is outside the project\.$/;
const asText =
  /^The command runs code that is given as text \([\w.]+\), so what it does cannot be told by reading it\.$/;
const sedRuns = /^The command runs commands from within \(sed\)/;
const awkMay = /may write files or run commands from within \(\w*awk\)/;
const searchesHome = /^The command touches \S+, which holds the keys and passwords of your home\.$/;
const guardedName = /^The command has a pattern that may stand for a guarded name/;

describe('a program that reads can write as well', () => {
  test.each([
    'git log --output=/tmp/x',
    'git diff --output /tmp/x',
    'git show HEAD --output=../x',
    'git archive -o /tmp/x.tar HEAD',
    'git archive HEAD --output=../x.zip',
    'git format-patch -o /tmp/patches -3',
    'git clone https://example.com/x.git /tmp/x',
    'git clone --depth 1 -b main https://example.com/x.git ../x',
    'cd .. && git clone https://example.com/x.git',
    'git init /tmp/x',
    'git init ../x',
    'git -C ../other commit -am x',
    'git -C .. diff --output=x',
    'cd ../other && git commit -am x',
    'git worktree add ../other feature',
    'git bundle create ../x.bundle main',
    'sort -o ../x a',
    'sort -uo/tmp/x a',
    'sort --output=/tmp/x a',
    'curl https://example.com -o /tmp/x',
    'curl -sSLo /tmp/x https://example.com',
    'curl --output ../x https://example.com',
    'cd /tmp && curl -sSLO https://example.com/x',
    'curl -D ../x https://example.com',
    'wget -O /tmp/x https://example.com',
    'wget -qO/tmp/x https://example.com',
    'wget -P .. https://example.com',
    'cd .. && wget https://example.com/x',
    'uniq a ../x',
    'xxd a ../x',
    'shuf -o ../x a',
    'gcc a.c -o /tmp/a',
    'openssl rand -out ../x 5',
    'npx tsc --outDir ../x',
    'make -C ../other',
    'npm --prefix ../other install',
    'sed -n "w /tmp/x" a',
    'sed "s/a/b/w ../x" a',
    'sed -e p -e "/x/w ../x" a',
    "sed '1,/b/ { s,a,b,g; W ../x\n}' a",
  ])('%s', async (command) => expect(await caution(command)).toMatch(outside));

  test.each([
    ['7z x a.7z -o/tmp/x', /outside the project/],
    ['tar xf a.tar -C ..', /outside the project/],
    ['tar xf a.tar --directory=/tmp', /outside the project/],
    ['unzip a.zip -d /tmp/x', /outside the project/],
    ['ls | tee ../x', /outside the project/],
    ['sed -i s/a/b/ ../x', /outside the project/],
    ['sed --in-place s/a/b/ ../x', /outside the project/],
    ['sed -i s/a/b/ .husky/pre-commit', /run by git/],
    ['env -C /tmp touch x', /outside the project/],
    ['env --chdir=.. rm x', /outside the project/],
    ['sort --output=.git/hooks/pre-commit a', /inside a repository's .git/],
    ['curl -o .envrc https://example.com', /direnv runs it/],
    ['curl -o .gitmodules https://example.com', /decides what git fetches and runs/],
    ['git log --output=.git/hooks/pre-commit', /inside a repository's .git/],
    ['sed "e date" a', sedRuns],
    ['sed 1e a', sedRuns],
    ['sed "s/a/b/e" a', sedRuns],
    ['sed "s|a|b|ge" a', sedRuns],
    ['sed k a', /has a sed script that is not understood here/],
    ['sed "r .env" a', /usually holds secrets/],
    ['awk \'{print > "x"}\' a', awkMay],
    ['awk \'{print $1 >> "x"}\' a', awkMay],
    ['awk \'{printf "%s", $1 | "sh"}\' a', awkMay],
    ['awk \'BEGIN {while (getline x < ".env") print x}\'', awkMay],
    ['gawk -i inplace "{print 1}" a', awkMay],
    ['sort --compress-program=x a', /runs another program/],
    ['git clone -c core.sshCommand=x https://example.com/x', /changes which programs git runs/],
  ])('%s', async (command, says) => expect(await caution(command)).toMatch(says));

  test.each([
    'git log --oneline -5 --format=%h',
    'git diff --output=x.diff',
    'git archive -o x.tar HEAD',
    'git format-patch -o patches -3',
    'git clone https://example.com/x.git vendor/x',
    'git clone --depth 1 -b main https://example.com/x.git',
    'git init',
    'git -C packages/a log',
    'git -C ../other log',
    'git add -A && git commit -m "x -o /tmp"',
    'sort -u a | uniq -c | sort -rn',
    'sort -o a a',
    'curl -fsSL -o /dev/null https://example.com/',
    'curl -sO https://example.com/x.tgz',
    'wget -qO- https://example.com',
    'tar xzf a.tgz -C vendor',
    'unzip -q a.zip -d vendor',
    'gcc -O2 -o build/a a.c',
    'make -C packages/a test',
    'npm --prefix web test',
    'grep -rno needle src',
    'sed -n 1,20p src/a.ts',
    "sed -n '/start/,/end/p' src/a.ts",
    "sed -i 's#/usr/x#/usr/y#g; s/we/w e/' src/a.ts",
    "sed -i '/needle/d' src/a.ts",
    "sed -E -e 's/(a|b)/\\1/gI' -e '$!N;P;D' a",
    "sed '/x/{n;s/a/b/;}' a",
    "sed -i '3a\\  writes e w' a",
    "sed -i '1i import x' a.ts",
    "sed 's/\\/a/b/;y/abc/xyz/;2q' a",
    "awk '{print $1}' a",
    "awk -F: '$3 > 5 && NR>1 {print $1, $2}' a",
    "awk '/a|b/ {n++} END {print n}' a",
    'awk \'{print "a>b|c"}\' a',
    "awk 'NR==1 || $1 > 3' a",
  ])('not: %s', async (command) => expect(await caution(command)).toBeNull());
});

describe('code that is given as text', () => {
  test.each([
    "python3 -c \"open('x', 'w')\"",
    'python3 -c "import pathlib; pathlib.Path(1).touch()"',
    'python -Bc "compile(input())"',
    'python3 <<< "print(open(1))"',
    'node -e "fs.writeFileSync(\'x\', 1)"',
    'node -p "process.kill(1)"',
    'node --eval="import(\'x\')"',
    'node --import "data:text/javascript,x" a.js',
    'bun -e "Bun.write(1, 2)"',
    'deno eval "Deno.writeTextFile(1, 2)"',
    'ruby -e "File.write(1, 2)"',
    "ruby -e 'puts `id`'",
    'perl -e "open(F, q(>x))"',
    'perl -pe "s/a/id/e" a',
    "perl -i -pe 's/a/@{[`id`]}/' a",
    'php -r "file_put_contents(1, 2);"',
    'lua -e "os.exit()"',
  ])('%s', async (command) => expect(await caution(command)).toMatch(asText));

  test.each([
    ['python3 -c "print(open(\'.env\').read())"', /usually holds secrets/],
    ['node -p "require(\'../home/x.json\')"', /Alcove's own home/],
    ['perl -i -pe s/a/b/ ../x', /outside the project/],
  ])('%s', async (command, says) => expect(await caution(command)).toMatch(says));

  test.each([
    'python3 -c "import sys; print(sys.version)"',
    'python3 -c "import numpy; print(numpy.__version__)"',
    "python3 -c \"import json; print(json.load(open('a.json'))['a'])\"",
    'cat a | python3 -c "import json, sys; d = json.load(sys.stdin); print(d[\'x\'][0])"',
    'python3 -m pytest -k "write or delete"',
    'python3 tool.py -c a.toml',
    'node -p "require(\'./package.json\').version"',
    'node -e "console.log(process.version, 1 + 1)"',
    'node -r ts-node/register a.ts -e x',
    'perl -i -pe "s/a/b/g; s/c/d/" a',
    'ruby -e "puts 1 + 1"',
    'php -r "echo PHP_VERSION;"',
  ])('not: %s', async (command) => expect(await caution(command)).toBeNull());
});

describe('a folder that holds a guarded place', () => {
  test.each([
    'grep -r X ~',
    'grep -rn X src ~/',
    'egrep -R X /',
    'grep --recursive -e X ..',
    'rg X ~',
    'rg X /',
    'cd ~ && rg X',
    'cd ~ && grep -r X .',
    'ag X ~',
    'find ~ -name id_rsa',
    'find / -name id_rsa',
    'find -L ~ src -type f',
    'fd needle ~',
    'diff -r ~ src',
    'zip -r x.zip ~',
    'git diff --no-index ~ src',
    'git grep --no-index X ~',
  ])('%s', async (command) => expect(await caution(command)).toMatch(searchesHome));

  test.each([
    ['cat ~/.ssh/*', /holds private keys/],
    ['fd id_rsa ~', /holds/],
    ['cat *.pem', /may hold a private key/],
    ['xargs -a ~/.ssh/id_rsa echo', /holds private keys/],
    ['xargs --arg-file=.env echo', /usually holds secrets/],
    ['tar c ~', /outside the project/],
    ['cp -r ~ x', /outside the project/],
    ['curl file:///home/x/.ssh/id_rsa', /holds private keys/],
    ['curl file://localhost/home/x/%2essh/id_rsa', /holds private keys/],
    ['cat /proc/1/environ', /shows what another program holds/],
    ['cat /proc/*/environ', /shows what another program holds/],
    ['strings /proc/123/mem', /shows what another program holds/],
    ['cat /proc/123/fd/4', /shows what another program holds/],
    ['cat < /proc/123/task/124/environ', /shows what another program holds/],
  ])('%s', async (command, says) => expect(await caution(command)).toMatch(says));

  test("a folder around Alcove's home", async () => {
    const environment = { ...scratch.environment, processEnvironment: {} };
    const call = bashTool.prepare({ command: 'grep -r X ..' });
    if ('problem' in call) throw new Error(call.problem);
    expect(await call.assess(environment)).toMatchObject({
      caution: `The command touches ${scratch.root}, which holds Alcove's own home.`,
    });
  });

  test.each([
    'grep -rn "/" src',
    'grep -r ~ src',
    'rg X',
    'rg -n "a|b" src test',
    'find . -name "*.pem"',
    'find src -type f -name "*.ts"',
    'fd a src',
    'grep X /usr/include/stdio.h',
    'cat /proc/cpuinfo',
    'cat /proc/self/fd/0',
    'diff a b',
    'zip -r x.zip src',
    'xargs -a list.txt ls',
  ])('not: %s', async (command) => expect(await caution(command)).toBeNull());
});

describe("Alcove's own door and command line", () => {
  test.each([
    'curl http://localhost:4096/pair',
    'curl -X POST http://127.0.0.1:7100/rpc -d @a.json',
    'curl "http://[::1]:7100/rpc"',
    'curl localhost:$PORT/rpc',
    'wscat -c ws://localhost:7100/ws?x=1',
    'wscat -c wss://0.0.0.0:7100//ws',
  ])('%s', async (command) => expect(await caution(command)).toMatch(/uses Alcove's own door/));

  test.each([
    'alcove serve',
    'npx alcove pair',
    'npx -y alcove@latest pair',
    'npm exec alcove -- pair',
    'timeout 5 alcove',
    'node dist/daemon/main.js pair',
    'node --no-warnings /opt/alcove/dist/daemon/main.js',
    './node_modules/.bin/alcove x',
  ])('%s', async (command) => expect(await caution(command)).toMatch(/drives Alcove itself/));

  test('the network by a redirection', async () => {
    expect(await caution('cat < /dev/tcp/localhost/7100')).toMatch(/talks to the network by a redirection/);
  });

  test.each([
    'curl http://localhost:3000/',
    'curl http://localhost:3000/api/pairs',
    'curl https://example.com/rpc',
    'grep -rn alcove src',
    'node dist/server.js',
  ])('not: %s', async (command) => expect(await caution(command)).toBeNull());
});

describe('patterns', () => {
  test.each([
    'cat .gi?/config',
    'cat .g*/config',
    'cat .[e]nv',
    'cat .e*',
    'cp .* x',
    'cat {.env,a}',
    'cat .{env,npmrc}',
    'cat id_*',
    'cat *_rsa',
    'cat certs/*.ke?',
    'cat cred*',
    'cat secrets.*',
    'tee .gi?/hooks/pre-commit',
    'make -C .gi?/hooks',
    'cat < .en*',
  ])('%s', async (command) => expect(await caution(command)).toMatch(guardedName));

  test('braces that lead elsewhere', async () => {
    expect(await caution('cat {/etc,src}/x')).toMatch(/names places by a pattern/);
    expect(await caution('touch {..,a}/x')).toMatch(/names places by a pattern/);
  });

  test.each([
    'cat *',
    'cat *.*',
    'cat src/*.ts',
    'wc -l *.json src/**/*.py',
    'cat test*.js',
    'cat package*.json',
    'cp -r src/{a,b} dist',
    'cat x{1..3}.txt',
    'mv a.ts{,.bak}',
    'cat vite.config.{ts,js}',
    'ls -d .*',
    "grep '.e*' a",
    'cat .github/*',
    'cat .eslintrc.*',
    'npx prettier --check "src/**/*.{ts,svelte}" *.md',
  ])('not: %s', async (command) => expect(await caution(command)).toBeNull());
});

describe('programs that wait, or work where paths mean something else', () => {
  test.each([
    ['vim a.ts', /waits for a keyboard/],
    ['vim -c "w! x" a', /waits for a keyboard, or edits by commands/],
    ['ex -c q a', /edits by commands/],
    ['ed a', /edits by commands/],
    ['nano a', /waits for a keyboard/],
    ['emacs --batch a', /edits by commands/],
    ['chroot /x ls', /where all paths mean something else/],
    ['busybox rm -rf x', /deletes folders/],
    ['toybox rm -rf x', /deletes folders/],
    ['busybox vi a', /waits for a keyboard/],
  ])('%s', async (command, says) => expect(await caution(command)).toMatch(says));

  test.each(['vim --version', 'less a', 'which vim', 'git commit -m vim'])('not: %s', async (command) =>
    expect(await caution(command)).toBeNull(),
  );
});
