// The rule on the length of functions: what it reports, and where.

import { describe, it } from 'node:test';
import { RuleTester } from 'eslint';
import tseslint from 'typescript-eslint';
import { functionLines } from './function_lines.js';

RuleTester.describe = describe;
RuleTester.it = it;

const jsx = { parser: tseslint.parser, parserOptions: { ecmaFeatures: { jsx: true } } };
const body = (lines) => `{\n${'  // A line.\n'.repeat(lines - 2)}}`;
const long = (kind, name, lines, most) => [
  { messageId: 'long', data: { kind, name, lines, most }, line: 1 },
];

new RuleTester({ languageOptions: jsx }).run('function-lines', functionLines, {
  valid: [
    { code: `function send() ${body(60)}`, filename: 'a.ts' },
    { code: `const Page = () => ${body(120)}`, filename: 'a.tsx' },
  ],
  invalid: [
    {
      code: `function send() ${body(61)}`,
      filename: 'a.ts',
      errors: long('function', 'send', 61, 60),
    },
    {
      code: `const Page = () => ${body(121)}`,
      filename: 'a.tsx',
      errors: long('component', 'Page', 121, 120),
    },
    // A hook is no component, and a file without JSX has none.
    {
      code: `const usePage = () => ${body(61)}`,
      filename: 'a.tsx',
      errors: long('function', 'usePage', 61, 60),
    },
    {
      code: `function Page() ${body(61)}`,
      filename: 'a.ts',
      errors: long('function', 'Page', 61, 60),
    },
    {
      code: `export default { send() ${body(61)} };`,
      filename: 'a.ts',
      errors: long('function', 'send', 61, 60),
    },
  ],
});
