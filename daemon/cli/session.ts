/** `alcove session list | inspect | diagnose | context | dump | export | import`. Reads the logs themselves, so it works beside a running daemon and without one, and writes nothing but what export and import say. */
import { once } from 'node:events';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { SessionId } from '#protocol/values/ids.ts';
import { makeAgentFolders } from '../agent/agent-folders.ts';
import { messageOf, systemCode } from '../base/errors.ts';
import { homePaths, ownerOnlyFileMode } from '../base/files.ts';
import { diagnoseLog, dumpLog, inspectLog, type Inspection } from '../session/inspect.ts';
import { reportOfLog } from '../agent/context/report-of-log.ts';
import { logSuffix, placeInHome, placeOfFile } from '../session/place.ts';
import { importLog } from '../session/transfer.ts';
import { contextWords } from './context-words.ts';
import { diagnosisWords } from './diagnosis-words.ts';
import { endWithReader } from './reader.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';

export async function session(
  around: Surroundings,
  action: string,
  name: string | undefined,
  target: string | undefined,
  options: { json?: boolean },
): Promise<number> {
  endWithReader();
  if (action === 'list') return list(around, options.json === true);
  if (action === 'import') return take(around, name);
  if (action !== 'export' && action !== 'inspect' && action !== 'diagnose' && action !== 'context' && action !== 'dump')
    throw new UsageError(
      'Use "session list", "session inspect ID|FILE", "session diagnose ID|FILE", "session context ID|FILE", "session dump ID|FILE", "session export ID|FILE FILE" or "session import FILE".',
    );
  if (name === undefined) throw new UsageError(`Name the session: "alcove session list" lists their ids.`);
  const file = /\.jsonl(\.zst)?$/.test(name) ? name : placeInHome(homePaths(around.home), name as SessionId).log;
  if ((await stat(file).catch(() => null)) === null)
    throw new Error(
      `There is no session ${name}${file === name ? '' : ` in ${around.home}`}. "alcove session list" lists them.`,
    );
  if (action === 'export') return give(file, target);
  if (target !== undefined) throw new UsageError(`"session ${action}" takes one session.`);
  if (action === 'context') {
    const report = await reportOfLog(placeOfFile(file));
    if (options.json === true) print(report);
    else process.stdout.write(contextWords(report));
    return 0;
  }
  if (action === 'diagnose') {
    const found = await diagnoseLog(file);
    if (options.json === true) print(found);
    else process.stdout.write(diagnosisWords(found.inspection.title, found.diagnosis));
    return 0;
  }
  return action === 'inspect' ? inspect(file, options.json === true) : dump(file);
}

/** One session that cannot be read hides none of the others. */
async function list(around: Surroundings, json: boolean): Promise<number> {
  const home = homePaths(around.home);
  const names = await readdir(home.sessions).catch(() => []);
  for (const name of names
    .filter((one) => one.endsWith(logSuffix))
    .sort()
    .reverse()) {
    const sessionId = basename(name, logSuffix) as SessionId;
    try {
      const found = await inspectLog(placeInHome(home, sessionId).log);
      if (json)
        print({
          sessionId,
          title: found.title,
          folder: found.folder,
          events: found.events,
          state: stateOf(found),
          open: found.open !== null,
          damaged: found.damages.length > 0,
        });
      else process.stdout.write(`${sessionId}  ${stateOf(found)}  ${found.title}\n`);
    } catch (error) {
      if (json) print({ sessionId, error: messageOf(error) });
      else process.stdout.write(`${sessionId}  unreadable  ${messageOf(error)}\n`);
    }
  }
  return 0;
}

/** Of a session in which no turn is open: how its last one ended. */
function stateOf(found: Inspection): string {
  if (found.damages.some((damage) => !damage.torn)) return 'damaged';
  if (found.open === null) return found.lastOutcome ?? 'new';
  return found.open.approvals.length + found.open.questions.length > 0 ? 'waits for you' : 'open';
}

async function inspect(file: string, json: boolean): Promise<number> {
  const found = await inspectLog(file);
  if (json) print(found);
  else process.stdout.write(report(found));
  return found.damages.some((damage) => !damage.torn) ? 1 : 0;
}

function report(found: Inspection): string {
  const counted = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ') || 'none';
  const calls = Object.entries(found.calls).map(([tool, outcomes]) => `  ${tool.padEnd(10)}${counted(outcomes)}`);
  const usage =
    found.usage === null
      ? 'unknown'
      : `${found.usage.input} in, ${found.usage.output} out${found.usage.unknownSteps > 0 ? `, and ${found.usage.unknownSteps} steps unknown` : ''}`;
  const lines = [
    found.title,
    `Session   ${found.sessionId ?? 'unknown'}`,
    `File      ${found.file} (${found.bytes} bytes for ${found.decoded} of JSON)`,
    `Folder    ${found.folder ?? 'unknown'}`,
    `Model     ${found.model ?? 'unknown'}`,
    `Events    ${found.events}`,
    `Turns     ${counted(found.turns)}; ${found.steps} steps`,
    `Calls     ${calls.length === 0 ? 'none' : ''}`,
    ...calls,
    `Tokens    ${usage}`,
  ];
  if (found.open !== null) {
    const what = found.open.atRest
      ? 'rests and can be continued'
      : 'was moving: the next start closes it as interrupted';
    lines.push(
      `Open      ${found.open.turn} ${what}; calls without an end: ${found.open.calls.length}, approvals: ${found.open.approvals.length}`,
    );
  }
  if (found.waitingInputs > 0) lines.push(`Inbox     ${found.waitingInputs} waiting`);
  for (const damage of found.damages) {
    lines.push(
      `${damage.torn ? 'Torn' : 'Damaged'}      bytes ${damage.from} to ${damage.to}: ${damage.reason}${damage.torn ? ' (cut off at the next start)' : ''}`,
    );
  }
  for (const anomaly of found.anomalies)
    lines.push(`Anomaly   event ${anomaly.seq} ${anomaly.type}: ${anomaly.problem}`);
  return `${lines.join('\n')}\n`;
}

/** Into a new file for its owner alone. Exit code 1 where something could not be read: then there is no file. */
async function give(file: string, target: string | undefined): Promise<number> {
  if (target === undefined) throw new UsageError('Name the file to write: "session export ID FILE.jsonl".');
  if (!target.endsWith('.jsonl'))
    throw new UsageError('What is exported is JSON Lines: give a file that ends in .jsonl.');
  const out = await open(target, 'wx', ownerOnlyFileMode).catch((error: unknown) => {
    if (systemCode(error) === 'EEXIST') throw new Error(`${target} is there already, and is not overwritten.`);
    throw error;
  });
  let damage = null as string | null;
  try {
    await dumpLog(
      file,
      (line) => out.writeFile(`${line}\n`),
      ({ torn, from, to, reason }) => {
        if (!torn) damage = `bytes ${from} to ${to} cannot be read: ${reason}`;
      },
    );
    await out.sync();
  } finally {
    await out.close();
  }
  if (damage === null) return 0;
  await rm(target);
  throw new Error(`${damage}. It was not exported; "session dump" prints what can be read.`);
}

async function take(around: Surroundings, file: string | undefined): Promise<number> {
  if (file === undefined || !/\.jsonl(\.zst)?$/.test(file))
    throw new UsageError('Name the file: "session import FILE.jsonl".');
  if ((await stat(file).catch(() => null)) === null) throw new Error(`There is no file ${file}.`);
  const home = homePaths(around.home);
  await makeAgentFolders(home);
  const { sessionId, events } = await importLog(file, home);
  process.stdout.write(`${sessionId}  ${events} events\n`);
  return 0;
}

/** JSON Lines on standard output; exit code 1 where something could not be read. */
async function dump(file: string): Promise<number> {
  const unreadable: boolean[] = [];
  await dumpLog(
    file,
    async (line) => {
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
    },
    (damage) => {
      unreadable.push(damage.torn);
      process.stderr.write(`alcove: bytes ${damage.from} to ${damage.to} cannot be read: ${damage.reason}\n`);
    },
  );
  return unreadable.every((torn) => torn) ? 0 : 1;
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
