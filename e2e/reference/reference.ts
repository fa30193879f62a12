/**
 * docs/reference.md, made from the tables that the programs themselves run by: verbs of the command line, fields of the settings file,
 * variables, methods, notices, kinds of events, error codes. What a table does not say is not in the reference; reference.test.ts finds a file that
 * is older than its tables.
 */
import * as zod from 'zod/mini';
import { commandLine } from '../../daemon/cli/command-line.ts';
import { settingsDocument } from '../../daemon/workspace/settings/settings.ts';
import { variables } from '../../daemon/cli/variables.ts';
import { vendors } from '../../daemon/llm/catalogue/vendors.ts';
import { commands, handshake } from '#protocol/command.ts';
import { openRequest, sessionSummary } from '#protocol/commands/session-values.ts';
import { folderEntry } from '#protocol/commands/folder.ts';
import { modelChoice, modelPrice } from '#protocol/commands/model.ts';
import { provider } from '#protocol/commands/provider.ts';
import { errorCodes } from '#protocol/errors.ts';
import { envelope, eventSchemas } from '#protocol/event.ts';
import { notices } from '#protocol/notices/notice.ts';
import type { Schema } from '#protocol/schema.ts';
import { blobRef } from '#protocol/values/blob.ts';
import { image, inputPart } from '#protocol/values/content.ts';
import { contextReport } from '#protocol/values/context-report.ts';
import { callDetails, callDisplay, fileChange } from '#protocol/values/display.ts';
import { failure } from '#protocol/values/outcome.ts';
import { project } from '#protocol/values/project.ts';
import { usage } from '#protocol/values/usage.ts';

/** Shapes that are told once, by name. */
const named: Readonly<Record<string, Schema<never>>> = Object.fromEntries(
  Object.entries({
    BlobRef: blobRef,
    CallDetails: callDetails,
    CallDisplay: callDisplay,
    ContextReport: contextReport,
    Failure: failure,
    FileChange: fileChange,
    FolderEntry: folderEntry,
    Image: image,
    InputPart: inputPart,
    ModelChoice: modelChoice,
    ModelPrice: modelPrice,
    OpenRequest: openRequest,
    Project: project,
    Provider: provider,
    SessionSummary: sessionSummary,
    Usage: usage,
  }).map(([name, schema]) => [name, schema as unknown as Schema<never>]),
);

export function reference(): string {
  return `# Reference

Made from the tables of the programs by \`UPDATE_REFERENCE=1 npx vitest run e2e/reference\`; do not edit it by hand.

${[commandLinePart(), settingsPart(), variablesPart(), methodsPart(), noticesPart(), eventsPart(), errorsPart(), shapesPart()].join('\n')}`;
}

function commandLinePart(): string {
  const cli = commandLine('', () => {
    throw new Error('nothing is run here');
  });
  const verbs = cli.commands.map((command) => {
    const usage = `alcove ${command.rawName}`.trim();
    const options = command.options.map((option) => {
      const { default: fallback } = option.config as { default?: string | number | boolean };
      const otherwise = fallback === undefined || fallback === true ? '' : ` (without it: ${fallback})`;
      return `| \`${option.rawName}\` | ${cell(option.description)}${otherwise} |`;
    });
    const table = options.length === 0 ? '' : `\n| option | |\n| --- | --- |\n${options.join('\n')}\n`;
    return `### \`${usage}\`\n\n${command.description}.\n${table}`;
  });
  return `## Command line\n\nExit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by the person.\n\n${verbs.join('\n')}`;
}

function settingsPart(): string {
  return `## Settings

\`settings.json\` in the home (\`~/.alcove\`). Changes apply from the next step on, without a restart; a file that does not fit leaves
the last good settings in force and says what is wrong. Comments are not JSON.

${fieldTable(schemaOf(settingsDocument))}`;
}

function variablesPart(): string {
  const keys = vendors.map(({ label, name, keyVariables }) => ({
    name: keyVariables.join('`, `'),
    meaning: `The key of ${label} (provider \`${name}\`)`,
  }));
  const rows = [...variables, ...keys].map(({ name, meaning }) => `| \`${name}\` | ${cell(meaning)} |`);
  return `## Environment variables\n\n| variable | |\n| --- | --- |\n${rows.join('\n')}\n`;
}

function methodsPart(): string {
  const methods = Object.entries({ ...handshake, ...commands }).toSorted(([a], [b]) => order(a) - order(b));
  const parts = methods.map(([name, { doc, params, result }]) => {
    return `### \`${name}\`\n\n${doc}\n\n\`\`\`ts\nparams: ${typeText(schemaOf(params))}\nresult: ${typeText(schemaOf(result))}\n\`\`\`\n`;
  });
  return `## Methods

JSON-RPC 2.0, on the WebSocket at \`/ws\` or by \`POST /rpc\` with the bearer token of \`daemon.json\`. A \`?\` marks what may be left out. Commands
that change something carry a \`commandId\`, a UUIDv7 that the client makes: sent again, it gets the first answer and changes nothing.

${parts.join('\n')}`;
}

/** The first words of a socket first; all else as it stands in its table. */
function order(name: string): number {
  return Object.hasOwn(handshake, name) ? 0 : 1;
}

function noticesPart(): string {
  const parts = Object.entries(notices).map(
    ([topic, schema]) => `| \`${topic}\` | \`${cell(typeText(schemaOf(schema), '', true))}\` |`,
  );
  return `## Notices\n\nNews on the socket, safe to lose, sent anew on each connect.\n\n| topic | fields |\n| --- | --- |\n${parts.join('\n')}\n`;
}

function eventsPart(): string {
  const kinds = Object.entries(eventSchemas).map(
    ([kind, schema]) => `| \`${kind}\` | \`${cell(typeText(schemaOf(schema), '', true))}\` |`,
  );
  return `## Events

A session's log, one event a line (\`alcove session dump ID\`). Each carries \`${typeText(schemaOf(envelope), '', true)}\` and its \`type\`, besides:

| type | fields |
| --- | --- |
${kinds.join('\n')}
`;
}

function errorsPart(): string {
  const rows = Object.entries(errorCodes).map(([code, meaning]) => `| \`${code}\` | ${cell(meaning)} |`);
  return `## Errors\n\n\`error.data.code\` of an answer; \`error.message\` is a sentence for people.\n\n| code | meaning |\n| --- | --- |\n${rows.join('\n')}\n`;
}

function shapesPart(): string {
  const shapes = Object.entries(named).map(
    ([name, schema]) => `\`\`\`ts\ntype ${name} = ${typeText(schemaOf(schema), '', false, name)}\n\`\`\``,
  );
  return `## Shapes\n\n${shapes.join('\n\n')}\n`;
}

interface JsonSchema {
  type?: string | string[];
  description?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
  propertyNames?: JsonSchema;
}

function schemaOf(schema: unknown): JsonSchema {
  const { $schema: _, ...rest } = zod.toJSONSchema(schema as zod.core.$ZodType, {
    unrepresentable: 'any',
    io: 'input',
  }) as JsonSchema & { $schema?: string };
  return rest;
}

let known: ReadonlyMap<string, string> | null = null;

function nameOf(schema: JsonSchema): string | undefined {
  known ??= new Map(Object.entries(named).map(([name, one]) => [JSON.stringify(schemaOf(one)), name]));
  return known.get(JSON.stringify(schema));
}

/** A schema in the words of TypeScript. `flat`: on one line. `telling`: the name that is being told, which cannot stand for itself. */
function typeText(schema: JsonSchema, indent = '', flat = false, telling?: string): string {
  const name = nameOf(schema);
  if (name !== undefined && name !== telling) return name;
  const within = (one: JsonSchema) => typeText(one, indent, flat);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(within).join(' | ');
  if (schema.allOf !== undefined) return schema.allOf.map(within).join(' & ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (schema.type === 'array') {
    const item = within(schema.items ?? {});
    return / [|&] /.test(item) ? `(${item})[]` : `${item}[]`;
  }
  if (schema.properties !== undefined) return objectText(schema, indent, flat);
  if (schema.type === 'object') return '{ [name: string]: unknown }';
  if (schema.type === undefined) return 'unknown';
  return [schema.type]
    .flat()
    .map((one) => (one === 'integer' ? 'number' : one))
    .join(' | ');
}

function objectText(schema: JsonSchema, indent: string, flat: boolean): string {
  const inner = `${indent}  `;
  const fields = Object.entries(schema.properties ?? {}).map(([key, value]) => {
    const may = schema.required?.includes(key) === true ? '' : '?';
    return `${key}${may}: ${typeText(value, inner, flat)}`;
  });
  if (fields.length === 0) return '{}';
  const line = `{ ${fields.join(', ')} }`;
  if (flat || (line.length + indent.length < 110 && !line.includes('\n'))) return line;
  return `{\n${fields.map((field) => `${inner}${field},`).join('\n')}\n${indent}}`;
}

/** Fields of an object, those of objects in it by their path. */
function fieldTable(schema: JsonSchema): string {
  const rows: string[] = [];
  const walk = (one: JsonSchema, path: string): void => {
    for (const [key, value] of Object.entries(one.properties ?? {})) {
      const place = path === '' ? key : `${path}.${key}`;
      const inner = innerOf(value);
      const type = inner === null ? typeText(value, '', true) : 'object';
      rows.push(`| \`${place}\` | ${inner === null ? `\`${cell(type)}\`` : type} | ${cell(value.description ?? '')} |`);
      if (inner !== null) walk(inner.schema, `${place}${inner.step}`);
    }
  };
  walk(schema, '');
  return `| field | | |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** The object that a field holds, or holds many of by name. */
function innerOf(schema: JsonSchema): { schema: JsonSchema; step: string } | null {
  if (schema.properties !== undefined) return { schema, step: '' };
  const { additionalProperties: each } = schema;
  if (typeof each === 'object' && each.properties !== undefined) return { schema: each, step: '.NAME' };
  return null;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
