/**
 * What types and formatting cannot say: floating promises, unfinished switches, forgotten console lines, and the coarse arrows between the
 * programs (the fine ones are e2e/rooms).
 */
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import typescript from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const nodeOnly = { group: ['node:*'], message: 'This program runs where there is no Node.' };
const daemonOnly = { group: ['**/daemon/**'], message: 'Nothing imports the daemon but the daemon and e2e.' };
const webOnly = { group: ['**/web/**', '$lib/**', '$app/**'], message: 'The daemon and the language know no page.' };
const restrict = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });

export default typescript.config(
  { ignores: ['dist/', '.svelte-kit/', '.cache/', 'test-results/', 'playwright-report/', '**/fixtures/'] },
  ...typescript.configs.strictTypeChecked,
  ...svelte.configs.recommended,
  {
    languageOptions: {
      parserOptions: {
        project: [
          'protocol/tsconfig.json',
          'daemon/tsconfig.json',
          'e2e/tsconfig.json',
          'web/tsconfig.json',
          'web/tsconfig.sw.json',
        ],
        extraFileExtensions: ['.svelte'],
      },
    },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: false, requireDefaultForNonUnion: false },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      // Numbers and unions of strings read well in messages.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // `() => something()` as a callback whose value nobody reads is the shortest way to say it.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // An index signature read through brackets is what tsconfig asks for.
      '@typescript-eslint/dot-notation': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // Ports are records of functions; a class that is taken apart fails at once, as its state is behind #.
      '@typescript-eslint/unbound-method': 'off',
      // What was caught is thrown on as it came.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true, allowThrowingAny: false }],
      // An interface says what a value is; an implementation may have nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/prefer-literal-enum-member': 'off',
      // Code points are what our limits count; and two names for one shape are two meanings.
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/no-duplicate-type-constituents': 'off',
      // Asserting a shape right behind a check that the compiler cannot follow is honest; `!` is not: it says nothing.
      '@typescript-eslint/no-non-null-assertion': 'error',
      'no-console': 'error',
      'no-cond-assign': 'error',
      'no-constant-condition': ['error', { checkLoops: 'allExceptWhileTrue' }],
      'no-empty': 'error',
      'no-irregular-whitespace': 'error',
      'no-self-assign': 'error',
      'no-sparse-arrays': 'error',
      'no-unreachable': 'error',
      'no-unsafe-finally': 'error',
      'no-useless-escape': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true } }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: typescript.parser, svelteConfig }, globals: globals.browser },
    rules: { '@typescript-eslint/no-unused-expressions': 'off' },
  },
  {
    // Types in components are svelte-check's: it knows the props of components, which this parser sees as any. Props are taken by `let`.
    files: ['**/*.svelte'],
    ...typescript.configs.disableTypeChecked,
  },
  { files: ['**/*.svelte'], rules: { 'prefer-const': 'off', 'svelte/prefer-const': 'error' } },
  { files: ['protocol/**/*.ts'], rules: restrict(nodeOnly, daemonOnly, webOnly) },
  { files: ['web/**/*.{ts,svelte}'], rules: restrict(nodeOnly, daemonOnly) },
  { files: ['daemon/**/*.ts'], rules: restrict(webOnly) },
  { files: ['daemon/cli/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    // What tests promise each other is told by the tests; a fake may be shorter than what it stands for.
    files: ['**/*.{test,bench,spec}.ts', '**/testing/**/*.ts', 'e2e/**/*.ts'],
    rules: {
      ...restrict(),
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-empty-function': 'off',
    },
  },
  // Tools insist on a default export here.
  { files: ['*.config.{ts,js}', 'e2e/**/playwright.config.ts'], rules: { 'no-restricted-exports': 'off' } },
  {
    files: ['**/*.{js,cjs}', '**/*.d.cts'],
    ...typescript.configs.disableTypeChecked,
  },
  {
    files: ['**/*.{js,cjs}'],
    languageOptions: { globals: globals.node },
    rules: { '@typescript-eslint/no-require-imports': 'off', 'no-undef': 'error' },
  },
  { files: ['web/static/**/*.js'], languageOptions: { globals: globals.browser }, rules: { 'no-var': 'off' } },
  {
    // An old Node must be able to parse these, to be told that it is one.
    files: ['daemon/*.cjs', 'e2e/run.cjs', 'e2e/dev.cjs'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'ChainExpression',
          'ImportExpression',
          'PropertyDefinition',
          'LogicalExpression[operator="??"]',
          'AssignmentExpression[operator=/^(\\?\\?|\\|\\||&&)=$/]',
          'CatchClause[param=null]',
          'CallExpression[callee.name="require"] > Literal[value=/^node:/]',
        ].map((selector) => ({ selector, message: 'Node 8 cannot parse this.' })),
      ],
    },
  },
);
