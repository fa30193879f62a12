/** The words of the composer: what a field invites to in each state of the driver, and what the modes mean. */
import type { DriverState } from '#protocol/commands/session-values.ts';
import type { ChoiceOption } from '../shared/Choice.svelte';

export const modeOptions: readonly ChoiceOption[] = [
  { value: 'ask', label: 'Ask first', note: 'Reads run; commands and changes ask you.' },
  { value: 'plan', label: 'Plan', note: 'Reads only. Nothing is changed and nothing is run.' },
  { value: 'auto', label: 'Auto', note: 'Runs by itself. Destructive commands still ask.' },
];

export function placeholderFor(driver: DriverState, touch: boolean): string {
  switch (driver) {
    case 'idle':
      return 'Say what you want';
    case 'running':
      return touch ? 'Steer this turn' : 'Steer this turn, Alt+Enter queues';
    case 'pausing':
    case 'paused':
      return touch ? 'Add to this turn' : 'Add to this turn, Alt+Enter queues';
    case 'aborting':
      return 'Say what comes next';
  }
}

export function sendName(driver: DriverState): string {
  switch (driver) {
    case 'idle':
    case 'aborting':
      return 'Send';
    case 'running':
    case 'pausing':
    case 'paused':
      return 'Steer';
  }
}
