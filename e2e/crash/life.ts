/** One life of the daemon: clients follow, persons act, and it is killed at a moment chosen by chance. */
import type { SessionEvent } from '#protocol/event.ts';
import { Follower } from './follower.ts';
import { act } from './person.ts';
import type { World } from './world.ts';

/** How long a life may be where what it was to be killed at does not come. */
const longestMs = 2000;
const persons = 3;
/** Killed right behind one of these: where something has just begun, or has just been promised. */
const turningPoints = [
  'input.claimed',
  'step.started',
  'part.started',
  'step.replied',
  'tool-call.started',
  'tool-call.output',
  'tool-call.ended',
  'approval.requested',
  'approval.resolved',
  'question.requested',
  'compaction.started',
  'compaction.ended',
  'agent.started',
  'turn.paused',
  'turn.ended',
];

type Due = (came: SessionEvent | null) => boolean;

export class Life {
  readonly #world: World;
  readonly #stop = new AbortController();
  readonly #followers: Follower[] = [];
  readonly #due: Due;
  #events = 0;
  #answers = 0;
  #over: () => void = () => undefined;

  constructor(world: World) {
    this.#world = world;
    this.#due = this.#chooseMoment();
  }

  /** Resolves when the daemon is dead and everybody has noticed. */
  async live(): Promise<readonly Follower[]> {
    const { chance, daemon } = this.#world;
    const over = new Promise<void>((resolve) => (this.#over = resolve));
    const late = setTimeout(this.#over, chance.below(2) === 0 ? longestMs : chance.below(longestMs));
    this.#follow();
    const acting = Array.from({ length: persons }, () => act(this.#world, this.#stop.signal, () => this.#answered()));
    await Promise.race([over, Promise.all(acting)]);
    clearTimeout(late);
    for (let turns = chance.below(200); turns > 0; turns -= 1) await new Promise(setImmediate);
    this.#stop.abort();
    await daemon.kill();
    await Promise.all(acting);
    await Promise.all(this.#followers.map((follower) => follower.ended));
    return this.#followers;
  }

  /** Every session there is now; each goes on from a little before the end of what is known of it. */
  #follow(): void {
    for (const sessionId of this.#world.sessions) {
      if (this.#followers.some((one) => one.sessionId === sessionId)) continue;
      const after = Math.max(0, (this.#world.seqs.get(sessionId) ?? 0) - this.#world.chance.below(20));
      this.#followers.push(new Follower(this.#world, sessionId, after, (event) => this.#came(event)));
    }
  }

  #came(event: SessionEvent): void {
    this.#events += 1;
    if (this.#due(event)) this.#over();
  }

  #answered(): void {
    this.#answers += 1;
    this.#follow();
    if (this.#due(null)) this.#over();
  }

  #chooseMoment(): Due {
    const { chance } = this.#world;
    const lot = chance.below(10);
    if (lot < 4) {
      const kind = turningPoints[chance.below(turningPoints.length)];
      let times = 1 + chance.below(3);
      return (came) => came?.type === kind && (times -= 1) === 0;
    }
    if (lot < 7) {
      const events = 1 + chance.below(200);
      return (came) => came !== null && this.#events >= events;
    }
    const answers = 1 + chance.below(12);
    return (came) => came === null && this.#answers >= answers;
  }
}
