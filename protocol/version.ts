/**
 * One history line for each version. `version.test.ts` pins the hash of all schemas: when it fails, decide whether the change is compatible
 * (raise the minor version: new optional fields, new kinds, new commands) or not (raise the major), add the line, then pin the new hash.
 */

/** What page and daemon speak. A newer minor is fine both ways; another major says "update the app". */
export const PROTOCOL_VERSION = { major: 1, minor: 1 } as const; // 1.0: the first. 1.1: providers, folders, pictures, changes of several files.

/** What a log is written in. Readers accept every version up to their own, and pass over unknown kinds of newer ones. */
export const LOG_VERSION = 1; // 1: the first.
