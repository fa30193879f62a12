import { expect, test } from 'vitest';
import { FileQueue } from './file-queue.ts';
import { builtInTools, toolsFor } from './registry.ts';

const names = (mode: 'ask' | 'plan' | 'auto') => toolsFor(mode, builtInTools(new FileQueue())).map((tool) => tool.name);

test('PM1: a plan has no tool that could change anything; of bash only what looks (approvals)', () => {
  expect(names('plan')).toEqual([
    'read',
    'ls',
    'glob',
    'grep',
    'bash',
    'git',
    'job',
    'todo',
    'ask_user',
    'propose_plan',
    'task',
  ]);
  expect(names('ask')).toEqual([
    'read',
    'ls',
    'glob',
    'grep',
    'edit',
    'write',
    'apply_patch',
    'bash',
    'git',
    'job',
    'todo',
    'ask_user',
    'task',
  ]);
  expect(names('auto')).toEqual(names('ask'));
});
