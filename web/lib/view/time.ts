/**
 * Times and amounts in few words, in figures that keep their width where the font is tabular. English, as the rest of the app.
 * Nothing reads a clock: `now` comes in.
 */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** How long something took: "0.1 s", "12.4 s", "41 s", "2 min 05 s", "1 h 04 min". */
export function duration(ms: number): string {
  const positive = Math.max(0, ms);
  if (positive < 19_950) return `${(positive / second).toFixed(1)} s`;
  if (positive < 59_500) return `${Math.round(positive / second)} s`;
  const seconds = Math.round(positive / second);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

/** How long something has been going on, in whole seconds: it is drawn anew each second. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / second));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
}

/** How long ago, for lists: "now", "40 s", "3 m", "2 h", then the day: "Mon", "14 Nov", "14 Nov 2025". A time ahead of `now` is "now". */
export function age(at: number, now: number): string {
  const ms = now - at;
  if (ms < 10 * second) return 'now';
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} m`;
  if (ms < day) return `${Math.floor(ms / hour)} h`;
  const then = new Date(at);
  if (ms < 6 * day) return days[then.getDay()] ?? '';
  const date = `${then.getDate()} ${months[then.getMonth()] ?? ''}`;
  return then.getFullYear() === new Date(now).getFullYear() ? date : `${date} ${then.getFullYear()}`;
}

/** The time of day: "14:03". */
export function clockTime(at: number): string {
  const then = new Date(at);
  return `${two(then.getHours())}:${two(then.getMinutes())}`;
}

/** An amount in at most four figures: "950", "18.4k", "1.2M". */
export function amount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 99_950) return `${(count / 1000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** US dollars: "$0.03", "$12.40"; what is not zero never reads as zero. */
export function dollars(cost: number): string {
  return cost > 0 && cost < 0.005 ? 'under $0.01' : `$${cost.toFixed(2)}`;
}

function two(figure: number): string {
  return String(figure).padStart(2, '0');
}
