/** The time as a screen shows it: read inside a component it brings that component up to date each second. One timer for the whole page, none while nothing reads it. */
import { createSubscriber } from 'svelte/reactivity';

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 1000);
  return () => clearInterval(timer);
});

export function ticking(): number {
  subscribe();
  return Date.now();
}
