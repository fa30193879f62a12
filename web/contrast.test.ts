/** Every pair of colours that text or a control's edge stands in, computed from the tokens of app.css in each theme. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

type Rgb = readonly [number, number, number];

const css = readFileSync(join(import.meta.dirname, 'app.css'), 'utf8');
const grounds = ['bg', 'sunken', 'raised', 'overlay'];

/** What is read, on what it stands. */
const texts: readonly (readonly [string, readonly string[]])[] = [
  [
    'ink',
    [...grounds, 'accent-soft', 'wait-soft', 'bad-soft', 'ok-soft', 'info-soft', 'add', 'add-word', 'del', 'del-word'],
  ],
  ['ink-2', [...grounds, 'wait-soft', 'accent-soft']],
  ['ink-3', grounds],
  ['accent', [...grounds, 'accent-soft']],
  ['accent-hover', grounds],
  ['on-accent', ['accent', 'accent-hover']],
  ['wait', ['bg', 'sunken', 'raised', 'wait-soft']],
  ['bad', [...grounds, 'bad-soft']],
  ['ok', grounds],
  ['add-ink', ['add', 'add-word']],
  ['del-ink', ['del', 'del-word']],
  ...['keyword', 'string', 'number', 'type'].map((hue) => [`code-${hue}`, ['bg', 'sunken', 'raised']] as const),
  ['ansi-magenta', ['bg', 'sunken', 'raised']],
];

/** Edges of controls, and the ring of the focus. */
const edges: readonly (readonly [string, readonly string[]])[] = [
  ['edge', grounds],
  ['accent', grounds],
];

const themes: Record<string, readonly RegExp[]> = {
  light: [/:root,\s*\[data-theme='light'\] \{([^}]*)\}/],
  dark: [/\n\[data-theme='dark'\] \{([^}]*)\}/],
  'high contrast, light': [
    /:root,\s*\[data-theme='light'\] \{([^}]*)\}/,
    /\n:root\[data-contrast='more'\] \{([^}]*)\}/,
  ],
  'high contrast, dark': [
    /\n\[data-theme='dark'\] \{([^}]*)\}/,
    /\n:root\[data-contrast='more'\] \{([^}]*)\}/,
    /\n\[data-theme='dark'\]\[data-contrast='more'\] \{([^}]*)\}/,
  ],
};

describe.each(Object.entries(themes))('UI28: in the theme "%s"', (_, blocks) => {
  const tokens = new Map<string, string>();
  for (const block of blocks)
    for (const [, name, value] of (block.exec(css)?.[1] ?? '').matchAll(/--([\w-]+):\s*([^;]+);/g))
      tokens.set(name ?? '', value ?? '');
  const below = (pairs: typeof texts, least: number) =>
    pairs.flatMap(([front, backs]) =>
      backs.flatMap((back) => {
        const found = ratio(colour(tokens, front), colour(tokens, back));
        return found < least ? [`${front} on ${back}: ${found.toFixed(2)}`] : [];
      }),
    );

  it('every text is at least 4.5:1', () => {
    expect(below(texts, 4.5)).toEqual([]);
  });

  it("every control's edge is at least 3:1", () => {
    expect(below(edges, 3)).toEqual([]);
  });
});

it('tells black from white', () => {
  expect(ratio([1, 1, 1], [0, 0, 0])).toBe(21);
});

function colour(tokens: ReadonlyMap<string, string>, name: string): Rgb {
  const value = tokens.get(name) ?? '';
  const other = /^var\(--([\w-]+)\)$/.exec(value)?.[1];
  if (other !== undefined) return colour(tokens, other);
  const numbers = /^oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)$/.exec(value)?.slice(1).map(Number);
  if (numbers === undefined) throw new Error(`--${name} is no oklch colour: ${value}`);
  const [light = 0, chroma = 0, hue = 0] = numbers;
  return linear(light, chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180));
}

/** Oklab to linear sRGB (bottosson.github.io/posts/oklab), cut to what a screen shows. */
function linear(light: number, a: number, b: number): Rgb {
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const cut = (value: number) => Math.min(1, Math.max(0, value));
  return [
    cut(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    cut(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    cut(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** As WCAG 2 defines it. */
function ratio(one: Rgb, other: Rgb): number {
  const luminance = ([r, g, b]: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const [high = 0, low = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}
