/**
 * `alcove replay FILE`: a recorded run once more, without network, keys or tools. Standard output carries what the run's did; standard error says
 * how much came, or what went another way. Exit code 0 where everything came as it was recorded, 1 where not.
 */
import { replay as replayed } from '../replay.ts';
import { printAnswer } from './answer.ts';
import { noAnswer, unattended } from './nobody.ts';
import { visible } from './visible.ts';

export async function replay(file: string, json: boolean): Promise<number> {
  // A reader that went away ends the output, not the comparison: the exit code still tells.
  process.stdout.on('error', () => undefined);
  const { difference, exchanges, results, conversation } = await replayed({
    file,
    unattended,
    noAnswer,
    heard: (event) => {
      if (json) process.stdout.write(`${JSON.stringify(event)}\n`);
    },
  });
  if (difference !== null) {
    process.stderr.write(visible(`alcove: the replay differs from its recording. ${difference}\n`));
    return 1;
  }
  process.stderr.write(`· As it was recorded: ${exchanges} replies of the model, ${results} results of tools.\n`);
  if (!json) await printAnswer(conversation);
  return 0;
}
