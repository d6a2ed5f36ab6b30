// What people approve is what they see: characters that hide or reorder others show as numbers, and
// names do not move the words beside them.

import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { importSource } from './bundle.js';
import { openPage, tool } from './card_page.js';

const { JsonView, Markdown, h, isolated, render, senderName, shownName, visible } =
  await importSource(`
  export { h, render } from 'preact';
  export { Markdown } from './src/markdown/markdown.tsx';
  export { JsonView } from './src/studio/run/json_view.tsx';
  export { isolated, senderName, shownName, visible } from './src/ui/visible.ts';
`);

const TROJAN = 'rm /tmp/a\u202e # \u2066b\u200b';
const SHOWN = 'rm /tmp/aU+202E # U+2066bU+200B';

test('characters that hide or reorder others show as their numbers', () => {
  const cases = [
    [TROJAN, SHOWN],
    [
      'a\u0007\u00ad\u061c\u200f\u2028\u2060\u3164\ufeff',
      'aU+0007U+00ADU+061CU+200FU+2028U+2060U+3164U+FEFF',
    ],
    ['\u{e0041}\u{1d173}', 'U+E0041U+1D173'],
    // Lines, tabs, joiners and the forms of emoji stay.
    ['a\tb\nc\r\nd', 'a\tb\nc\r\nd'],
    ['a\rb', 'aU+000Db'],
    ['👩\u200d💻 ❤\ufe0f می\u200cخواهم', '👩\u200d💻 ❤\ufe0f می\u200cخواهم'],
  ];
  for (const [text, expected] of cases) assert.equal(visible(text), expected);
});

test('names that may be written from right to left are isolated', () => {
  const cases = [
    ['Zoë Петров', 'Zoë Петров'],
    ['שרה', '\u2068שרה\u2069'],
    ['\u2069\u202eboB', 'U+2069U+202EboB'],
    ['שרה\u2069', '\u2068שרהU+2069\u2069'],
  ];
  for (const [name, expected] of cases) assert.equal(isolated(name), expected);
  assert.equal(shownName({ name: 'Bob' }), 'Bob');
  assert.equal(shownName({ name: 'Bob', guest: true }), 'Bob (guest)');
  const bob = { id: 'bob', name: 'Bob' };
  assert.equal(
    senderName(bob, () => 'Robert'),
    'Robert',
  );
  assert.equal(
    senderName(bob, () => ''),
    'Bob',
  );
  assert.equal(
    senderName({ ...bob, guest: true }, () => 'Robert'),
    'Bob (guest)',
  );
});

test('code and JSON views show hidden characters', () => {
  const root = document.body.appendChild(document.createElement('main'));
  const shown = (node) => {
    render(null, root);
    render(node, root);
    return [...root.querySelectorAll('code, td, th, pre:not(:has(code))')].map(
      ({ textContent }) => textContent,
    );
  };
  assert.deepEqual(shown(h(Markdown, { text: `\`\`\`\n${TROJAN}\n\`\`\`` })), [SHOWN]);
  assert.deepEqual(shown(h(Markdown, { text: `\`${TROJAN}\`` })), [SHOWN]);
  const json = (value) => shown(h(JsonView, { title: 'Input', value }));
  assert.deepEqual(json({ [TROJAN]: TROJAN }), [SHOWN, SHOWN]);
  assert.deepEqual(json([TROJAN]), [`[\n  "${SHOWN}"\n]`]);
  root.remove();
});

test('cards and forms show hidden characters', async (t) => {
  const page = openPage(t);
  const properties = {
    command: { type: 'string', title: TROJAN, description: TROJAN, default: TROJAN },
    one: { enum: [TROJAN, 'b'], title: 'One' },
    some: { type: 'array', title: 'Some', items: { enum: [TROJAN] }, uniqueItems: true },
    fixed: { const: TROJAN, title: 'Fixed' },
  };
  const input = { question: TROJAN, text: TROJAN, more: TROJAN };
  const call = tool({ name: TROJAN, input, resultSchema: { type: 'object', properties } });
  await page.show(call);
  assert.doesNotMatch(page.root.textContent, /[\u202e\u2066\u200b]/);
  const places = ['.question', '.paragraph', '.pairs dd', 'label', '.field .note', 'details td'];
  for (const place of places)
    assert.ok(
      page.texts(place).some((text) => text.includes(SHOWN)),
      place,
    );
  // The typed value is what is sent, so it stays; a note shows all of it.
  assert.equal(page.field(SHOWN).value, TROJAN);
  assert.ok(page.texts('.field .note').includes(`With what does not show: ${SHOWN}`));

  // Option buttons, the answer, and the outcome.
  await page.show(tool({ callId: 'c2', ui: 'buttons', input: { options: [TROJAN] } }));
  assert.ok(page.button(SHOWN));
  const answered = { status: 'completed', resolvedBy: 'sarah', output: { a: TROJAN } };
  await page.show(tool({ ...answered }));
  assert.deepEqual(page.texts('.answered dd'), [SHOWN]);
  await page.show(tool({ ...answered, output: { declined: true, reason: TROJAN } }));
  assert.deepEqual(page.texts('.outcome'), [`declined by Sarah: ${SHOWN}`]);
});

// A name between other words, in a template of a text: `Remove ${name}?`.
const JOINED = /`[^`]*\$\{(?:[\w?]+\.)*(?:name|spaceName)\}[^`]*`/g;

// What is no text: class names, keys, addresses. And names that nameOf has isolated already, that
// the product gives, or that are looked for.
const OTHER = [
  'navigation/',
  'src/ui/preferences.ts',
  'page/composer/mentions.ts', // What is written into the message, like the next.
  'home/member_card.tsx',
  'home/overview.tsx', // A name that is isolated already.
  'page/space/active_runs.tsx', // Of nameOf, like those in why/words.ts.
  'talk/delete_file.tsx', // A name that is isolated already.
  'talk/failure_line.tsx', // Of nameOf.
  'why/',
  'studio/agents/setup/', // Names of models, and of secrets.
  'studio/agents/tools/tool_words.ts',
  'studio/agents/tools/tool_fields.ts', // Names of secrets.
  'studio/agents/trial/trial.ts', // The name of the space that is made.
  'studio/new_space/new_members.ts',
  'studio/settings/policies.ts',
  'studio/usage/report.ts',
  'studio/runs/words.ts',
  'studio/runs/row_actions.tsx', // Of nameOf.
  'studio/agents/agent/agent.tsx', // A name that is isolated already.
  'forms/approval/remember.ts', // A label, which is made visible.
  'forms/card/pairs.tsx', // A label, which is made visible.
  'forms/card/question.ts',
];

test('names in texts with other words are isolated', async () => {
  const folder = new URL('../src/', import.meta.url);
  for (const file of await readdir(folder, { recursive: true })) {
    const isOther = OTHER.some((part) => `src/${file}`.includes(part));
    if (isOther || !/\.tsx?$/.test(file)) continue;
    const source = await readFile(new URL(file, folder), 'utf8');
    assert.deepEqual(source.match(JOINED) ?? [], [], file);
  }
});
