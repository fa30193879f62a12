import { describe, expect, it } from 'vitest';
import type { DriverState } from '#protocol/commands/session-values.ts';
import { keyMeaning, type Key, type KeyMeaning } from './keys.ts';

const drivers: DriverState[] = ['idle', 'running', 'pausing', 'paused', 'aborting'];
const key = (name: string, more: Partial<Key> = {}): Key => ({
  key: name,
  altKey: false,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  isComposing: false,
  repeat: false,
  keyCode: 0,
  defaultPrevented: false,
  ...more,
});
const row = (pressed: Key, situation: { empty?: boolean; touch?: boolean } = {}): (KeyMeaning | null)[] =>
  drivers.map((driver) => keyMeaning(pressed, { driver, empty: false, touch: false, ...situation }));

const turn = 'submit-next-turn';
const step = 'submit-next-step';
const enter = key('Enter');
const altEnter = key('Enter', { altKey: true });
const escape = key('Escape');

describe('UI11: idle, running, pausing, paused, aborting', () => {
  it.each([
    ['Enter', row(enter), [turn, step, step, step, turn]],
    ['Alt+Enter', row(altEnter), [turn, turn, turn, turn, turn]],
    ['Escape', row(escape), [null, 'pause', 'abort', 'abort', null]],
    ['Enter with nothing written', row(enter, { empty: true }), ['none', 'none', 'none', 'resume', 'none']],
    ['Alt+Enter with nothing written', row(altEnter, { empty: true }), ['none', 'none', 'none', 'none', 'none']],
    ['Escape with nothing written', row(escape, { empty: true }), [null, 'pause', 'abort', 'abort', null]],
    ['Enter held down', row(key('Enter', { repeat: true })), ['none', 'none', 'none', 'none', 'none']],
    ['Escape held down', row(key('Escape', { repeat: true })), [null, null, null, null, null]],
  ])('%s', (_name, meanings, wanted) => {
    expect(meanings).toEqual(wanted);
  });

  it.each([
    ['Shift+Enter', key('Enter', { shiftKey: true }), {}],
    ['Enter on a touch screen', enter, { touch: true }],
    ['Enter that ends a composition', key('Enter', { isComposing: true }), {}],
    ['Enter that a browser tells after the composition', key('Enter', { keyCode: 229 }), {}],
    ['Escape out of a list of candidates', key('Escape', { isComposing: true }), {}],
    ['Escape that a menu took', key('Escape', { defaultPrevented: true }), {}],
    ['Ctrl+Enter', key('Enter', { ctrlKey: true }), {}],
    ['a letter', key('a'), {}],
  ])('%s is left to the field', (_name, pressed, situation) => {
    expect(row(pressed, situation)).toEqual([null, null, null, null, null]);
  });
});
