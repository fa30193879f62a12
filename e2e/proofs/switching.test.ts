/**
 * US6, PR1: one session goes from vendor A to B and back, over every ordered pair of formats, with reasoning, calls and pictures on both sides,
 * between turns and in the middle of one. Every vendor is strict: it refuses what the real one refuses, and takes reasoning only that it made.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { pngOf } from '../../daemon/testing/pictures.ts';
import type { WireServer } from '../../daemon/testing/wire-server.ts';
import { newCommandId } from '../support/daemon.ts';
import { formats, pairingProblem, type Format, type Said } from '../support/formats.ts';
import { House, report, soundFold } from './house.ts';

interface Vendor {
  readonly name: string;
  readonly format: Format;
  readonly model: string;
  readonly login?: 'codex';
}

const formatOf = (name: Format['name']) => formats.find((one) => one.name === name)!;
const vendors: readonly Vendor[] = [
  { name: 'chat', format: formatOf('openai-chat'), model: 'deepseek-reasoner' },
  { name: 'messages', format: formatOf('anthropic-messages'), model: 'claude-sonnet-4-5' },
  { name: 'responses', format: formatOf('openai-responses'), model: 'gpt-5' },
  { name: 'codex', format: formatOf('openai-responses'), model: 'gpt-5-codex', login: 'codex' },
];

const looks: Said = {
  thought: 'I should look first.',
  text: 'Looking.',
  calls: [
    { tool: 'read', arguments: { path: 'plan.png' } },
    { tool: 'read', arguments: { path: 'notes.md' } },
  ],
};
const once: Said = { thought: 'One more.', calls: [{ tool: 'read', arguments: { path: 'notes.md' } }] };
const answer: Said = { thought: 'That is enough.', text: 'Roses.' };

it(
  'US6 PR1: every ordered pair of wire formats, A to B and back, between turns and within one: never refused',
  { timeout: 120_000 },
  async () => {
    const house = await House.open();
    await writeFile(join(house.folder, 'plan.png'), pngOf(64, 48));
    const login = join(house.home, 'codex');
    await mkdir(login);
    const tokens = { access_token: 'codex-token', refresh_token: 'codex-refresh', account_id: 'acc' };
    await writeFile(join(login, 'auth.json'), JSON.stringify({ tokens }));
    const servers = new Map<string, WireServer<unknown>>();
    for (const { name, format } of vendors) servers.set(name, await format.start(undefined, { origin: true }));
    onTestFinished(async () => {
      for (const server of servers.values()) await server.close();
    });
    const providers = Object.fromEntries(
      vendors.map(({ name, format, model, login: by }) => {
        const key = by === undefined ? { keyEnv: 'E2E_KEY' } : { login: by };
        return [name, { format: format.name, baseUrl: servers.get(name)!.url, models: [model], ...key }];
      }),
    );
    await writeFile(join(house.home, 'settings.json'), JSON.stringify({ providers }));
    await house.daemon.start();

    for (const a of vendors) {
      for (const b of vendors.filter((one) => one !== a)) {
        const sessionId = await house.session('auto');
        const follower = await house.follow(sessionId);
        const choose = (to: Vendor) =>
          house.daemon.call('session.configure', {
            commandId: newCommandId(),
            sessionId,
            model: `${to.name}/${to.model}`,
            effort: 'high',
          });
        const server = (of: Vendor) => servers.get(of.name)!;
        const before = new Map(vendors.map((one) => [one, server(one).requests.length]));
        const asked = (of: Vendor) => server(of).requests.length - before.get(of)!;

        for (const [turn, vendor] of [a, b, a].entries()) {
          await choose(vendor);
          server(vendor).enqueue(vendor.format.reply(looks), vendor.format.reply(answer));
          await house.submit(sessionId, `Look, for the ${turn + 1}. time.`);
          const outcome = await follower.turnEnded(turn + 1);
          expect([`${a.name} > ${b.name}, turn ${turn + 1}`, outcome, server(vendor).refusals]).toEqual([
            `${a.name} > ${b.name}, turn ${turn + 1}`,
            'completed',
            [],
          ]);
        }
        // Within a turn: A has called, B goes on with it, A ends it.
        let chosen: () => void = () => undefined;
        const gate = new Promise<void>((resolve) => (chosen = resolve));
        const held = (said: Said, vendor: Vendor, until: Promise<void>) => {
          const reply = vendor.format.reply(said);
          return { ...reply, acts: [{ act: 'until' as const, gate: until }, ...reply.acts] };
        };
        let back: () => void = () => undefined;
        const gateBack = new Promise<void>((resolve) => (back = resolve));
        server(a).enqueue(held(looks, a, gate), a.format.reply(answer));
        server(b).enqueue(held(once, b, gateBack));
        const atA = server(a).requests.length;
        const atB = server(b).requests.length;
        await house.submit(sessionId, 'And once more.');
        await server(a).request(atA + 1);
        await choose(b);
        chosen();
        await server(b).request(atB + 1);
        await choose(a);
        back();
        const last = await follower.turnEnded(4);
        const refused = [...server(a).refusals, ...server(b).refusals];
        expect([`${a.name} > ${b.name}, within a turn`, last, refused]).toEqual([
          `${a.name} > ${b.name}, within a turn`,
          'completed',
          [],
        ]);
        for (const vendor of [a, b]) {
          for (const request of server(vendor).requests.slice(before.get(vendor)))
            expect(pairingProblem(vendor.format.marks(request.body))).toBeNull();
        }
        const conversation = soundFold(await house.events(sessionId));
        expect(conversation.turns.map((turn) => turn.outcome)).toEqual(Array.from({ length: 4 }, () => 'completed'));
        const returned = reasoningIn(server(a).requests.at(-1)?.body);
        // What A said comes back to A, but for a vendor that wants only that of the running exchange.
        expect(returned).toBeGreaterThan(0);
        report(
          `${a.name.padEnd(9)} > ${b.name.padEnd(9)} > ${a.name.padEnd(9)} 4 turns, ${asked(a)} + ${asked(b)} requests, ${refused.length} refused, ${returned} pieces of its own reasoning went back`,
        );
      }
    }
    await house.daemon.stop();
  },
);

/** How many pieces of reasoning a request brings back. */
function reasoningIn(body: unknown): number {
  const found = JSON.stringify(body).match(/"type":"thinking"|"type":"reasoning"|"reasoning_content"/g);
  return found?.length ?? 0;
}
