/** Plain JSON, as it stands in logs and messages. */
import { z } from '../schema.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

export const jsonObject = z.custom<JsonObject>(
  (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
  {
    error: 'expected a JSON object',
  },
);
