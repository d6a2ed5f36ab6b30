// The linter's rules for all JavaScript and TypeScript of the tree. `tests/run lint-js` runs it.

import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';
import { functionLines } from './function_lines.js';

const SOURCES = ['clients/js/*/src/**/*.{ts,tsx}', 'clients/js/examples/**/*.{ts,tsx}'];
const EXTENSIONS = ['.ts', '.tsx', '.js', '.jsx'];

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      '**/node_modules/',
      '**/.venv/',
      // Generated from the description of the API.
      'clients/js/client/src/api.ts',
    ],
  },
  {
    files: ['**/*.{js,jsx,mjs,ts,tsx}'],
    plugins: { 'import-x': importX },
    languageOptions: { parser: tseslint.parser },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    settings: {
      'import-x/extensions': EXTENSIONS,
      'import-x/parsers': { '@typescript-eslint/parser': EXTENSIONS },
      'import-x/resolver-next': [createNodeResolver({ extensions: EXTENSIONS })],
    },
    rules: {
      'max-lines': ['error', { max: 500, skipBlankLines: false, skipComments: false }],
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      // Only files of the tree: packages may not be installed, and `dist` may not be built.
      'import-x/no-unresolved': ['error', { ignore: ['^[^.]', '/dist/'] }],
    },
  },
  {
    files: SOURCES,
    extends: [tseslint.configs.recommended],
    plugins: { house: { rules: { 'function-lines': functionLines } } },
    rules: {
      'house/function-lines': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      // A `!` needs a reason: `// eslint-disable-next-line RULE -- why`.
      '@typescript-eslint/no-non-null-assertion': 'error',
    },
  },
);
