/** A shell without data: nothing is rendered anywhere but in the browser. */
export const ssr = false;
