/** What a run answers: the text of the last reply, on standard output. */
import type { Conversation } from '#protocol/conversation/conversation.ts';

export function answerOf(conversation: Conversation): string {
  const texts =
    conversation.turns
      .at(-1)
      ?.steps.at(-1)
      ?.parts.filter((part) => part.kind === 'text') ?? [];
  return texts.map((part) => part.text).join('\n\n');
}

/** Resolves once it is with the reader. */
export function printAnswer(conversation: Conversation): Promise<void> {
  const answer = answerOf(conversation);
  if (answer === '') return Promise.resolve();
  return new Promise((resolve) =>
    process.stdout.write(answer.endsWith('\n') ? answer : `${answer}\n`, () => resolve()),
  );
}
