/** What other tools hang on, lose, or leave behind: each case with the real bash. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { CommandEnd } from '#protocol/values/display.ts';
import { maxSpillBytes } from '../../base/limits.ts';
import { endProcesses, findMarked } from '../../base/process-table.ts';
import { textOf, ToolScratch } from '../../testing/tool-environment.ts';
import { bashTool } from '../bash.ts';

let scratch: ToolScratch;
beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(async () => {
  await endProcesses(() => findMarked(scratch.mark));
  scratch.close();
});

async function run(command: string, more: Record<string, unknown> = {}) {
  const from = performance.now();
  const result = await scratch.call(bashTool, { command, ...more });
  const { outcome, details } = result;
  return { outcome, text: textOf(result), details: details as CommandEnd, ms: performance.now() - from };
}

describe('C10 TL9: what leaves its shell behind', () => {
  test.each([
    ['nohup', 'nohup sleep 60 >/dev/null 2>&1 & echo done'],
    ['disown', 'sleep 60 & disown; echo done'],
    ['a fork of a fork', '( ( sleep 60 ) & ) ; echo done'],
    ['a fork of a fork in a session of its own', '( setsid sh -c "sleep 60 & sleep 61" & ) ; echo done'],
    ['one that closes all it was given', 'setsid sh -c "exec 0<&- 1>&- 2>&-; sleep 60" & echo done'],
    ['one that changed its folder and its name', '(cd / && exec -a another sleep 60) & echo done'],
  ])('%s returns at once, is counted, and is ended by its mark', async (_, command) => {
    const { text, ms, details } = await run(command);
    expect(text).toMatch(/^done\n\[\d process(es)? it started still runs? in the background/);
    expect(ms).toBeLessThan(2_000);
    expect(await findMarked(scratch.mark)).toHaveLength(details.leftRunning ?? 0);
    await endProcesses(() => findMarked(scratch.mark));
    expect(await findMarked(scratch.mark)).toEqual([]);
  });

  test('a time limit also ends what ignores TERM in a session of its own', async () => {
    const { text, ms } = await run('setsid sh -c \'trap "" TERM HUP INT; while :; do sleep 0.2; done\' & wait', {
      timeout: 0.5,
    });
    expect(text).toBe('[The time limit of 0.5 s was reached; the command and all it started were ended.]');
    expect(ms).toBeLessThan(6_000);
    expect(await findMarked(scratch.mark)).toEqual([]);
  });
});

describe('output', () => {
  test('that is no text is shown as text, and kept byte for byte', async () => {
    const { text, details } = await run('head -c 200000 /dev/urandom | tee copy; printf "\\0\\377\\376end"');
    expect(text).not.toMatch(/[\u0000-\u0008\u000e-\u001f]/);
    expect(text).not.toMatch(/\p{Surrogate}/u);
    const whole = readFileSync(details.spill as string);
    expect(whole.subarray(0, 200_000).equals(scratch.bytes('copy'))).toBe(true);
    expect(whole.subarray(200_000)).toEqual(Buffer.from([0, 255, 254, 101, 110, 100]));
  });

  test('RT28 TL10: of maxSpillBytes is kept whole, one byte more and its end is left out; the exit code is the command’s own', async () => {
    const quiet = { ...scratch.environment, output: () => undefined };
    const ofBytes = async (bytes: number) => {
      const call = bashTool.prepare({ command: `head -c ${bytes} /dev/zero; exit 7` });
      if ('problem' in call) throw new Error(call.problem);
      return call.execute(quiet, new AbortController().signal);
    };
    const fits = await ofBytes(maxSpillBytes);
    expect(textOf(fits)).toContain('the whole output is in');
    const over = await ofBytes(maxSpillBytes + 1);
    expect(textOf(over)).toContain('the first 64 MiB of the output are in');
    for (const result of [fits, over]) {
      const { exitCode, spill } = result.details as CommandEnd;
      expect(exitCode).toBe(7);
      expect(statSync(spill as string).size).toBe(maxSpillBytes);
    }
  }, 60_000);
});

describe('what asks for a person finds nobody, and does not wait', () => {
  const quick = async (command: string) => {
    const end = await run(command, { timeout: 20 });
    expect(end.details.timedOut).toBe(false);
    expect(end.ms).toBeLessThan(10_000);
    return end;
  };

  test('a password read from the terminal, as sudo and ssh do', async () => {
    expect((await quick('read -rs password < /dev/tty; echo "code $?"')).text).toMatch(/code 1$/);
    expect((await quick('read -rp "Password: " password; echo "code $?"')).text).toMatch(/code 1$/);
  });

  test('git that is asked for a name and a password', async () => {
    const server = createServer((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="garden"' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    scratch.put('ask', '#!/bin/sh\necho asked >> asked\nsleep 30\n');
    const { text } = await quick(
      `chmod +x ask; git -c core.askPass="$PWD/ask" -c credential.helper= ls-remote http://127.0.0.1:${port}/x.git; cat asked`,
    );
    expect(text).toMatch(/terminal prompts disabled/);
    expect(text).toMatch(/asked: No such file/);
  });

  test('an editor and a pager', async () => {
    const { text } = await quick(
      'git init -q . && git -c user.name=a -c user.email=a@b -c core.editor="sleep 60" commit --allow-empty; ' +
        'git -c core.pager="sleep 60" -c user.name=a -c user.email=a@b commit -qm one --allow-empty && git -c core.pager="sleep 60" log --format=%s; echo "$EDITOR"',
    );
    expect(text).toMatch(/Aborting commit due to empty commit message/);
    expect(text).toMatch(/one\ntrue$/);
  });

  test('a program with a window for passwords, named by the person’s environment, is not handed on', async () => {
    const environment = {
      ...scratch.environment.processEnvironment,
      SSH_ASKPASS: '/x',
      SUDO_ASKPASS: '/x',
      GIT_ASKPASS: '/x',
    };
    const call = bashTool.prepare({ command: 'echo "[$SSH_ASKPASS$SUDO_ASKPASS$GIT_ASKPASS]"' });
    if ('problem' in call) throw new Error(call.problem);
    const result = await call.execute(
      { ...scratch.environment, processEnvironment: environment },
      new AbortController().signal,
    );
    expect(textOf(result)).toBe('[]');
  });
});

describe('TL11: with tty the output is a terminal', () => {
  test('without it neither output nor errors are one; with it both are, of a size, and input is still none', async () => {
    const look = 'test -t 1 && echo out; test -t 2 && echo err; test -t 0 || echo no input; cat; echo "$TERM"';
    expect((await run(look)).text).toBe('no input\ndumb');
    expect((await run(`${look}; stty size < /dev/tty`, { tty: true })).text).toBe(
      'out\nerr\nno input\nxterm-256color\n40 120',
    );
  });

  test('colours and titles are not in the text of the model, nor on the screen', async () => {
    const { text } = await run(
      'ls --color=auto -d .; printf "\\033]0;title\\007\\033[31mred\\033[0m\\n50%%\\r100%%\\n"',
      {
        tty: true,
      },
    );
    expect(text).toBe('.\nred\n100%');
    expect(scratch.output).not.toContain('\u001b');
  });

  test('the exit code and the signal are its own, also where it writes much', async () => {
    expect((await run('exit 9', { tty: true })).details).toMatchObject({ exitCode: 9, signal: null });
    expect((await run('kill -KILL $$', { tty: true })).details).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    const { details, text } = await run('seq 1 200000; exit 4', { tty: true });
    expect(details).toMatchObject({ exitCode: 4, outputBytes: 1_288_895 });
    expect(text.split('\n').slice(0, 2)).toEqual(['1', '2']);
    expect(text).toMatch(/\n200000\n\[Exit code 4.\]$/);
  });

  test('its group is recorded before it runs, and ended at the time limit with all that left it', async () => {
    const { text } = await run('setsid sleep 60 & (trap "" TERM HUP; while :; do sleep 0.1; done) & echo on; wait', {
      tty: true,
      timeout: 0.5,
    });
    expect(text).toBe('on\n[The time limit of 0.5 s was reached; the command and all it started were ended.]');
    expect(await findMarked(scratch.mark)).toEqual([]);
    expect(scratch.groups).toHaveLength(2);
  });

  test('nothing runs where it cannot be recorded', async () => {
    const call = bashTool.prepare({ command: 'touch ran', tty: true });
    if ('problem' in call) throw new Error(call.problem);
    const processes = { ...scratch.environment.processes, started: () => Promise.reject(new Error('disk full')) };
    const result = await call.execute({ ...scratch.environment, processes }, new AbortController().signal);
    expect(textOf(result)).toBe('The command could not be started: disk full');
    expect(await findMarked(scratch.mark)).toEqual([]);
    expect((await run('ls')).text).toBe('(no output)');
  });
});
