/** What a client may send: JSON-RPC 2.0 requests. `hello` and `authenticate` come first and once; then any command. */
import { z } from './schema.ts';

export const request = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().check(z.maxLength(100)), z.int()]),
  method: z.string().check(z.maxLength(100)),
  params: z.optional(z.unknown()),
});
export type Request = z.infer<typeof request>;
