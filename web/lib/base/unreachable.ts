/**
 * The end of a switch over a union: a case that is forgotten does not compile,
 * and one that comes all the same (a newer daemon's word) is a fault with its value in the message.
 */
export function unreachable(value: never): never {
  throw new Error(`not foreseen: ${JSON.stringify(value)}`);
}
