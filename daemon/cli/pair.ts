/** `alcove pair`: link, code, QR and ssh line for one more browser. */
import { invitation } from './invitation.ts';
import { Running } from './running.ts';
import type { Surroundings } from './surroundings.ts';

export async function pair(around: Surroundings): Promise<number> {
  const running = await Running.find(around.home);
  const pairing = await running.call('pairing.create', {});
  process.stdout.write(`${invitation(running.port, pairing, { qr: true })}\n`);
  return 0;
}
