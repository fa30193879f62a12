/** Limits of the interface, declared once for both sides. What exceeds one is answered with `too_large` or `too_many`, naming it. */

/** One text message up. Larger content goes through blobs. */
export const maxMessageBytes = 1024 * 1024;
/** Requests of one JSON-RPC batch over HTTP. */
export const maxBatch = 50;
/** Requests of one socket that have no answer yet. */
export const maxInFlight = 64;
/** Subscriptions of one socket: more sessions than a person has open at once. */
export const maxSubscriptions = 64;
/** One HTTP body of JSON. */
export const maxBodyBytes = 1024 * 1024;
/** One blob up or down through HTTP. */
export const maxBlobBytes = 64 * 1024 * 1024;
/** What one input may carry besides its words: files and pictures together. */
export const maxAttachments = 10;
/** One attached text file; a longer one should be named, so that the agent reads what it needs of it. */
export const maxAttachedTextBytes = 50 * 1024;
/** One attached PDF: it is sent again with each request, and with what else is in one must stay below the 32 MB that vendors take. */
export const maxDocumentBytes = 8 * 1024 * 1024;
/** Pictures that a person attaches to one session, and their bytes as sent: every one is sent again with each request. */
export const maxSessionPictures = 10;
export const maxSessionPictureBytes = 8 * 1024 * 1024;
/** A request's path and query. */
export const maxUrlLength = 2048;
/** A batch of events down is cut at this size, so that a slow phone holds little of the daemon's memory. */
export const batchBytes = 128 * 1024;
/** A socket that has this much unsent is not written to until it has drained: the log keeps its events. */
export const maxUnsentBytes = 512 * 1024;
/** Between two pings of the daemon; a client that heard nothing for twice this long plus a bit counts the socket as half-open. */
export const heartbeatMs = 6_000;
export const silenceMs = 14_000;
/** A socket must have authenticated by then. */
export const authenticateMs = 5_000;
/** Sockets that have not authenticated yet; the oldest goes when one more comes. */
export const maxUnauthenticated = 16;
/** WebSocket subprotocol, and close codes of our own. */
export const subprotocol = 'alcove.v1';
export const closeCodes = { unauthorized: 4401, revoked: 4403, version: 4426, tooLarge: 1009, going: 1001 } as const;
/** Pairing. */
export const pairingMs = 10 * 60_000;
export const maxWrongCodes = 5;
export const typedCodeLength = 8;
/** A device's token ends after this long unused. */
export const deviceUnusedMs = 90 * 24 * 60 * 60_000;
