/**
 * The two proofs of the handshake. The machine proves with its Ed25519 key, pinned at pairing, that it is the one it names; the browser
 * proves with its device token, which it does not send, that it was paired. Both are over the transcript of the hello.
 */
import type { HandshakeResult } from '#protocol/command.ts';
import { helloTranscript } from '#protocol/commands/handshake.ts';
import { fromBase64url, toBase64url } from '../base/base64url.ts';

export type Hello = HandshakeResult<'hello'>;

/** 16 bytes are 128 bits: enough that a nonce never comes twice. */
const nonceBytes = 16;

/** Of Ed25519. */
const keyBytes = 32;
const signatureBytes = 64;

export function makeNonce(random: (bytes: Uint8Array<ArrayBuffer>) => void): string {
  const bytes = new Uint8Array(nonceBytes);
  random(bytes);
  return toBase64url(bytes);
}

export function transcriptOf(hello: Hello, clientNonce: string): string {
  return helloTranscript({
    machineId: hello.machineId,
    bootId: hello.bootId,
    clientNonce,
    daemonNonce: hello.nonce,
  });
}

/** False also for a key or a signature of the wrong form: both come from outside. */
export async function signedBy(publicKey: string, transcript: string, signature: string): Promise<boolean> {
  const key = fromBase64url(publicKey);
  const signed = fromBase64url(signature);
  if (key?.length !== keyBytes || signed?.length !== signatureBytes) return false;
  const text = new TextEncoder().encode(transcript);
  let imported: CryptoKey;
  try {
    imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
  } catch {
    // A browser from before Ed25519 was in all of them (2025), or a key that is no point of the curve: both are told apart by our own code.
    const { default: nacl } = await import('tweetnacl');
    return nacl.sign.detached.verify(text, signed, key);
  }
  return crypto.subtle.verify('Ed25519', imported, signed, text);
}

/** HMAC-SHA-256 of the transcript under SHA-256 of the token's text, base64url: the daemon keeps only that hash. */
export async function proveToken(token: string, transcript: string): Promise<string> {
  const encoder = new TextEncoder();
  const hashed = await crypto.subtle.digest('SHA-256', encoder.encode(token));
  const key = await crypto.subtle.importKey('raw', hashed, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return toBase64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(transcript))));
}

/** What the pairing link carries of a machine's key: the first 16 bytes of its SHA-256, base64url. */
export async function fingerprintOf(publicKey: string): Promise<string | null> {
  const key = fromBase64url(publicKey);
  if (key === null) return null;
  return toBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', key)).slice(0, 16));
}
