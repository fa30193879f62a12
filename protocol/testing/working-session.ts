/**
 * A session at work, for benches: steps as a model of today makes them, each with reasoning and words in small deltas, a call and its output.
 * The words are drawn from a fixed list by a fixed sequence, so two sessions of one length are the same, byte for byte, and compress
 * about as well as prose and listings do: text that repeats itself would flatter whoever compresses it.
 */
import { LogBuilder } from './log-builder.ts';

/** One turn of so many steps, about 30 events each; the last step has ended and the turn is still open. */
export function workingSession(steps: number): LogBuilder {
  const words = new Words();
  const log = new LogBuilder()
    .session()
    .asks(`Find out why the build is slow. ${words.prose(60)}`)
    .turn();
  for (let step = 0; step < steps; step += 1) work(log, words, step);
  return log;
}

/** One step more. */
function work(log: LogBuilder, words: Words, step: number): void {
  const path = `src/${words.one()}/${words.one()}-${step}.ts`;
  log.step().says(words.deltas(10), 'reasoning').says(words.deltas(6));
  log.announces(step % 2 === 0 ? 'bash' : 'read').replies();
  if (step % 2 === 0) {
    const command = `npm run ${words.one()} -- --only ${path}`;
    log.requests('bash', { command }, { title: 'Run', kind: 'command', target: command }).starts();
    const lines = Array.from({ length: 4 }, (_, line) => `${path}:${line * 17 + step} ${words.prose(6)}\n`);
    for (const line of lines) log.prints(line);
    log.ends(lines.join(''));
  } else {
    log.requests('read', { path, offset: step }, { title: 'Read', kind: 'read', target: path }).starts();
    log.ends(Array.from({ length: 24 }, (_, line) => `${line + step}\t${words.prose(7)}`).join('\n'));
  }
  log.endsStep();
}

/** A linear congruential sequence over a list: cheap, and the same everywhere. */
class Words {
  #state = 42;

  one(): string {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return vocabulary[(this.#state >>> 8) % vocabulary.length] ?? '';
  }

  prose(count: number): string {
    return Array.from({ length: count }, () => this.one()).join(' ');
  }

  /** As they come from a model: some words each. */
  deltas(count: number): string[] {
    return Array.from({ length: count }, () => `${this.prose(4)} `);
  }
}

const vocabulary =
  `the a of to and in that it is was for on with as at by this from but not are have which you one all were when we there can
an your what some out other time about many then them write would like these her long make thing see him two has look more day could
go come did number sound no most people my over know water than call first who may down side been now find any new work part take get place
made live where after back little only round man year came show every good me give our under name very through just form sentence great think
say help low line differ turn cause much mean before move right boy old too same tell does set three want air well also play small end put home
read hand port large spell add even land here must big high such follow act why ask men change went light kind off need house picture try us again
function const return import export await async string number boolean null undefined interface class private readonly extends promise error throw
config module server client request response buffer stream event handler index length value result option default version path file folder test`
    .split(/\s+/)
    .filter((word) => word !== '');
