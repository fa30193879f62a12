import { expect, test } from 'vitest';
import { scrubEnvironment } from './process-environment.ts';

test('PM13: provider keys go, by their well-known names and by those the settings use; PATH, HOME and tool tokens stay', () => {
  const given = {
    PATH: '/bin',
    HOME: '/home/ada',
    GITHUB_TOKEN: 'g',
    NPM_TOKEN: 'n',
    AWS_PROFILE: 'p',
    LANG: 'C.UTF-8',
    OPENAI_API_KEY: 'x',
    ANTHROPIC_API_KEY: 'x',
    GEMINI_API_KEY: 'x',
    MY_COMPANY_LLM: 'x',
    my_other_key: 'x',
    ALCOVE_HOME: '/x',
    ALCOVE_MARK: 'x',
    gone: undefined,
  };
  expect(scrubEnvironment(given, ['MY_COMPANY_LLM', 'MY_OTHER_KEY'])).toEqual({
    PATH: '/bin',
    HOME: '/home/ada',
    GITHUB_TOKEN: 'g',
    NPM_TOKEN: 'n',
    AWS_PROFILE: 'p',
    LANG: 'C.UTF-8',
  });
});

test('PM14: what makes programs load code goes', () => {
  const given = {
    PATH: '/bin',
    LD_PRELOAD: 'x',
    LD_LIBRARY_PATH: 'x',
    DYLD_INSERT_LIBRARIES: 'x',
    NODE_OPTIONS: 'x',
    BASH_ENV: 'x',
    ENV: 'x',
    PROMPT_COMMAND: 'x',
    'BASH_FUNC_ls%%': 'x',
  };
  expect(scrubEnvironment(given, [])).toEqual({ PATH: '/bin' });
});

test('PM13: a second key of a vendor goes, and a key under a name of the person’s own, by how its vendor writes keys', () => {
  const given = {
    OPENAI_API_KEY_WORK: 'x',
    ANTHROPIC_ADMIN_API_KEY: 'x',
    TOGETHERAI_ACCESS_TOKEN: 'x',
    MINE: 'sk-ant-api03-abcdef',
    OTHER: 'gsk_0123456789',
    OLD: 'sk-0123456789abcdef0123456789abcdef',
    OPENAI_BASE_URL: 'http://localhost:1',
    SKETCH: 'sk-eleton',
    DATADOG_API_KEY: 'd',
    HF_HOME: '/hf',
    STRIPE_KEY: 'sk_test_51',
  };
  expect(Object.keys(scrubEnvironment(given, []))).toEqual([
    'OPENAI_BASE_URL',
    'SKETCH',
    'DATADOG_API_KEY',
    'HF_HOME',
    'STRIPE_KEY',
  ]);
});

test('PM14: what a git hook set around us goes, so that commands act on the project', () => {
  const given = { HOME: '/h', GIT_DIR: 'x', GIT_PREFIX: 'x', GIT_CONFIG_COUNT: '1', GIT_AUTHOR_NAME: 'Ada' };
  expect(scrubEnvironment(given, [])).toEqual({ HOME: '/h', GIT_AUTHOR_NAME: 'Ada' });
});
