import nacl from 'tweetnacl';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { signedBy } from './handshake.ts';

const keys = nacl.sign.keyPair();
const text = 'the transcript of a hello';
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const publicKey = base64url(keys.publicKey);
const signature = base64url(nacl.sign.detached(Buffer.from(text), keys.secretKey));

afterEach(() => vi.restoreAllMocks());

describe.each(['that knows Ed25519', 'that does not know it'])('a signature, in a browser %s', (browser) => {
  const openBrowser = (): void => {
    if (browser === 'that does not know it')
      vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(
        new DOMException('Unrecognized name', 'NotSupportedError'),
      );
  };

  it('holds for its own text and key only', async () => {
    openBrowser();
    expect(await signedBy(publicKey, text, signature)).toBe(true);
    expect(await signedBy(publicKey, `${text}.`, signature)).toBe(false);
    expect(await signedBy(base64url(nacl.sign.keyPair().publicKey), text, signature)).toBe(false);
  });

  it.each([
    ['a key that is too short', publicKey.slice(4), signature],
    ['a signature that is too short', publicKey, signature.slice(4)],
    ['what is not base64url', '!', '!'],
    ['nothing', '', ''],
    ['a key that is no point of the curve', base64url(new Uint8Array(32).fill(255)), signature],
  ])('does not hold for %s', async (_, key, signed) => {
    openBrowser();
    expect(await signedBy(key, text, signed)).toBe(false);
  });
});
