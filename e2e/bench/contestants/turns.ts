/** Counts the turns that were sent to a server and those that it said had ended, by session; whoever waits is told. */
export class Turns {
  readonly #sessions = new Map<string, { sent: number; ended: number; wake: () => void }>();

  sent(session: string): void {
    this.#of(session).sent += 1;
  }

  ended(session: string): void {
    const turns = this.#of(session);
    turns.ended += 1;
    turns.wake();
  }

  /** Resolves when all that were sent have ended. Rejects when `over` does or resolves before: then none will end any more. */
  async done(session: string, over: Promise<unknown>): Promise<void> {
    const turns = this.#of(session);
    const gone = over.then(() => {
      throw new Error('the server ended before the turn did');
    });
    gone.catch(() => undefined);
    while (turns.ended < turns.sent) await Promise.race([gone, new Promise<void>((resolve) => (turns.wake = resolve))]);
  }

  /** A new life of the server knows nothing of the last. */
  forget(): void {
    this.#sessions.clear();
  }

  #of(session: string): { sent: number; ended: number; wake: () => void } {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    const turns = { sent: 0, ended: 0, wake: () => undefined };
    this.#sessions.set(session, turns);
    return turns;
  }
}
