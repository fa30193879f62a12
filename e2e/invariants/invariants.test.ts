import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { invariants } from './invariants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const id = /\b(?:RT|OR|PR|TL|PM|CX|UI|AP|MB|EV|US)[1-9]\d?\b|\bC[0-9]{2}\b/g;
const cited = new Set(
  ['protocol', 'daemon', 'web', 'e2e']
    .flatMap((program) => testsUnder(join(root, program)))
    .flatMap((file) => namesOfTests(file, readFileSync(file, 'utf8')))
    .flatMap((name) => name.match(id) ?? []),
);

it('every invariant is cited in the name of a test', () => {
  const uncited = Object.entries(invariants).flatMap(([one, sentence]) => (cited.has(one) ? [] : `${one} ${sentence}`));
  expect(uncited).toEqual([]);
});

it('every id that a test cites is an invariant', () => {
  expect([...cited].filter((one) => !Object.hasOwn(invariants, one))).toEqual([]);
});

it('only names of tests count as citations', () => {
  const source =
    "// RT1\nconst RT2 = 'RT3';\ndescribe('RT4: a', () => { it.each([['RT5: row']])(`RT7 ${x}`, () => {}); });";
  expect(namesOfTests('sample.test.ts', source)).toEqual(['RT4: a', 'RT5: row', 'RT7 ', '']);
});

function testsUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) return testsUnder(file);
    return /\.(test|spec)\.ts$/.test(entry.name) ? [file] : [];
  });
}

/** The texts that name tests: the first argument of `it`, `test`, `describe`, their `.each`, and the rows of its table. */
function namesOfTests(file: string, text: string): string[] {
  const names: string[] = [];
  const tablesByName = new Map<string, ts.Expression>();
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined)
      tablesByName.set(node.name.text, node.initializer);
    if (ts.isCallExpression(node) && isNaming(node.expression)) {
      const tables = ts.isCallExpression(node.expression) ? node.expression.arguments : [];
      for (const table of tables) textsIn((ts.isIdentifier(table) && tablesByName.get(table.text)) || table, names);
      for (const name of node.arguments.slice(0, 1)) textsIn(name, names);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return names;
}

function isNaming(called: ts.Expression): boolean {
  if (ts.isIdentifier(called)) return ['it', 'test', 'describe'].includes(called.text);
  if (ts.isPropertyAccessExpression(called)) return called.name.text !== 'each' && isNaming(called.expression);
  return (
    ts.isCallExpression(called) &&
    ts.isPropertyAccessExpression(called.expression) &&
    ['each', 'for'].includes(called.expression.name.text) &&
    isNaming(called.expression.expression)
  );
}

function textsIn(node: ts.Node, texts: string[]): void {
  if (ts.isStringLiteralLike(node)) texts.push(node.text);
  else if (ts.isTemplateExpression(node))
    texts.push(node.head.text, ...node.templateSpans.map((span) => span.literal.text));
  else if (ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node))
    ts.forEachChild(node, (child) => textsIn(ts.isPropertyAssignment(child) ? child.initializer : child, texts));
}
