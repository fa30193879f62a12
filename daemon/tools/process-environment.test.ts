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
