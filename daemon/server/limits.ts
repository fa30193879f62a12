/** Limits of the door that no client needs to know, with the sentence why. Those that both sides must know stand in the protocol. */

/** Connections of all clients together: many tabs and a few scripts, far below what a process may open. */
export const maxConnections = 256;
/** A request's headers must have come by then: a client that trickles them holds a connection. */
export const headersTimeoutMs = 10_000;
/** A whole request: a large blob through a slow forward. */
export const requestTimeoutMs = 10 * 60_000;
/** Headers of one request, all together: Node's own default, said out loud. */
export const maxHeaderBytes = 16 * 1024;
/** How long the rest of a refused body is read and thrown away, so that the client gets to read the refusal. */
export const discardMs = 5_000;
/** A pairing request holds one code and one name. */
export const maxPairBytes = 4 * 1024;
/** Blobs that are being received at once: each is held in memory until its hash is known. */
export const maxUploads = 2;
/** Streams of events over HTTP, of all scripts together. */
export const maxEventStreams = 64;
/** A ticket is for a download that starts at once. */
export const ticketMs = 60_000;
export const maxTickets = 256;
/** Codes that may be open at once; the oldest goes when one more comes. */
export const maxPairings = 8;
/** A socket's answers that were asked for and not read; more is a client that only talks. */
export const maxUnreadBytes = 8 * 1024 * 1024;
/** Bytes between two pings: their answers say how far the client has really received, whatever buffers lie between. */
export const pingEveryBytes = 64 * 1024;
/** The tail that a subscriber gets who names neither a seq nor a size. */
export const defaultTailBytes = 64 * 1024;
/** Answers and close frames get this long to leave when the daemon ends. */
export const closingMs = 1_000;
