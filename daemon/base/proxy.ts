/**
 * Which proxy a request goes through, as the environment says it: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, and NO_PROXY with what goes around them,
 * in capitals or not. Pure. This machine itself is never reached through one.
 */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** The proxy's address, or null where the request goes straight. */
export function proxyFor(url: string, environment: ProxyEnvironment): string | null {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (isLoopback(host)) return null;
  const said = (name: string) => (environment[name.toLowerCase()] ?? environment[name] ?? '').trim();
  const proxy = said(protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') || said('ALL_PROXY');
  if (proxy === '') return null;
  const around = said('NO_PROXY').split(/[\s,]+/);
  const ownPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  if (around.some((one) => covers(one.toLowerCase(), host, ownPort))) return null;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
  // Other kinds (socks) are not spoken: a request that went straight instead would go where the person does not want it.
  return URL.canParse(address) ? address : proxy;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** `*`, a host with all below it, with or without a dot or star before it, and a port where one is named. */
function covers(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  const [, name = entry, only] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (only !== undefined && only !== port) return false;
  const bare = name.replace(/^\*?\./, '');
  return bare !== '' && (host === bare || host.endsWith(`.${bare}`));
}
