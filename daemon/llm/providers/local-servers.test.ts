/** Model servers of this machine, played on loopback ports of the test's own. */
import { expect, onTestFinished, test } from 'vitest';
import { startJsonServer, type JsonAnswer, type JsonServer } from '../../testing/json-server.ts';
import { ManualClock } from '../../testing/manual-clock.ts';
import { localPlaces, LocalServers } from './local-servers.ts';

async function server(answers: Record<string, JsonAnswer>): Promise<JsonServer> {
  const one = await startJsonServer((path) => answers[path] ?? { status: 404, body: 'not here' });
  onTestFinished(() => one.close());
  return one;
}

const models = (...ids: string[]) => ({ body: { object: 'list', data: ids.map((id) => ({ id, owned_by: 'me' })) } });

test('Ollama, LM Studio and llama.cpp are found with their models, in one look', async () => {
  const ollama = await server({
    '/api/tags': { body: { models: [{ name: 'qwen3:8b' }, { name: 'nomic-embed-text' }] } },
  });
  const studio = await server({ '/v1/models': models('gemma-3') });
  const llama = await server({ '/v1/models': models('model.gguf') });
  const local = new LocalServers(
    [
      { address: ollama.url, kinds: ['ollama'] },
      { address: studio.url, kinds: ['lmstudio'] },
      { address: llama.url, kinds: ['llamacpp'] },
    ],
    new ManualClock(),
  );
  expect(await local.look()).toEqual([
    { name: 'ollama', label: 'Ollama', baseUrl: `${ollama.url}/v1`, models: ['qwen3:8b'] },
    { name: 'lmstudio', label: 'LM Studio', baseUrl: `${studio.url}/v1`, models: ['gemma-3'] },
    { name: 'llamacpp', label: 'llama.cpp', baseUrl: `${llama.url}/v1`, models: ['model.gguf'] },
  ]);
  await Promise.all([ollama.quiet(), studio.quiet(), llama.quiet()]);
});

test.each<[string, JsonAnswer]>([
  ['a web server', { body: '<html>hello</html>', headers: { 'content-type': 'text/html' } }],
  ['an API of another kind', { body: { data: 'x' } }],
  ['a redirect', { status: 302, headers: { location: 'http://example.test/' } }],
  ['one that never answers', { hang: true }],
  ['one that answers without end', { body: 'x'.repeat(2 * 1024 * 1024) }],
  ['one that wants a password', { status: 401, body: models('secret').body }],
])('%s at a port is no model server', async (_, answer) => {
  const other = await server({ '/api/tags': answer, '/v1/models': answer });
  const kinds = ['ollama', 'lmstudio', 'llamacpp'] as const;
  const local = new LocalServers(
    kinds.map((kind) => ({ address: other.url, kinds: [kind] })),
    new ManualClock(),
  );
  expect(await local.look()).toEqual([]);
});

test('within seconds nobody looks again; later what stopped is gone, and known all the same to those who used it', async () => {
  const clock = new ManualClock();
  const ollama = await server({ '/api/tags': { body: { models: [{ name: 'qwen3:8b' }] } } });
  const local = new LocalServers([{ address: ollama.url, kinds: ['ollama'] }], clock);
  await Promise.all([local.look(), local.look()]);
  await local.look();
  expect(ollama.requests).toHaveLength(1);
  await ollama.close();
  clock.advance(10_000);
  expect(await local.look()).toEqual([]);
  expect(local.known).toMatchObject([{ name: 'ollama', models: ['qwen3:8b'] }]);
});

test('at addresses that were named any kind is told by what answers; a second of a kind has a name of its own', async () => {
  const one = await server({ '/api/tags': { body: { models: [{ name: 'a' }] } } });
  const two = await server({ '/api/tags': { body: { models: [{ name: 'b' }] } } });
  const three = await server({ '/v1/models': { ...models('c'), headers: { server: 'llama.cpp' } } });
  const places = localPlaces({ ALCOVE_LOCAL_SERVERS: `${one.url}/, ${two.url},${three.url},http://10.0.0.1:1` });
  expect(places).toHaveLength(3);
  const found = await new LocalServers(places, new ManualClock()).look();
  expect(found.map(({ name, models: ids }) => [name, ...ids])).toEqual([
    ['ollama', 'a'],
    ['ollama-2', 'b'],
    ['llamacpp', 'c'],
  ]);
});

test.each([
  [{}, 'http://127.0.0.1:11434'],
  [{ OLLAMA_HOST: 'localhost:9999' }, 'http://localhost:9999'],
  [{ OLLAMA_HOST: '0.0.0.0:9999' }, 'http://127.0.0.1:9999'],
  [{ OLLAMA_HOST: 'http://127.0.0.1' }, 'http://127.0.0.1:11434'],
  [{ OLLAMA_HOST: 'gpu.example.test:11434' }, 'http://127.0.0.1:11434'],
])('%j looks for Ollama at %s', (environment, address) => {
  expect(localPlaces(environment)[0]?.address).toBe(address);
});

test('looking can be switched off', () => {
  expect(localPlaces({ ALCOVE_LOCAL_SERVERS: ' Off ' })).toEqual([]);
});
