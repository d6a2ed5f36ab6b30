// What one can do with a message, what stands for it in a line, and its mentions in its text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';

const { window } = new JSDOM('<main></main>', { pretendToBeVisual: true });
globalThis.window = window;
globalThis.document = window.document;
const {
  Markdown,
  deletedWords,
  excerptOf,
  firstWordsOf,
  h,
  lastLineOf,
  marksOf,
  reasonOf,
  render,
  rightsOf,
  stateWords,
} = await importSource(`
  export { h, render } from 'preact';
  export { deletedWords, excerptOf, firstWordsOf } from './src/message/message_words.ts';
  export { lastLineOf } from './src/page/shell/last_line.ts';
  export { rightsOf } from './src/message/rights.ts';
  export { Markdown } from './src/markdown/markdown.tsx';
  export { marksOf } from './src/markdown/marks.ts';
  export { reasonOf, stateWords } from './src/why/outcomes.ts';
`);

const main = document.querySelector('main');

/** The markup of a text in which each of `names` is mentioned once, `me` as the reader. */
function shown(text, names, me = '') {
  let from = 0;
  const mentions = names.map((name) => {
    const start = text.indexOf(name, from);
    from = start + name.length;
    return { entityId: name, start, end: from };
  });
  render(null, main);
  render(h(Markdown, { text, marks: marksOf({ mentions }, me) }), main);
  return main.querySelector('.text').innerHTML;
}

const mention = (name, own = '') => `<span class="mention${own}">${name}</span>`;

test('mentions are marked where they were sent, the own one stronger', () => {
  const cases = [
    ['Hi @Ada!', ['@Ada'], `<p>Hi ${mention('@Ada')}!</p>`],
    ['@Me and @Ada', ['@Me', '@Ada'], `<p>${mention('@Me', ' own')} and ${mention('@Ada')}</p>`],
    ['**@Ada**, `@Ada`', ['@Ada'], `<p><strong>${mention('@Ada')}</strong>, <code>@Ada</code></p>`],
    // A name is not read as Markdown.
    ['@a*b* c*', ['@a*b*'], `<p>${mention('@a*b*')} c*</p>`],
    ['_@Ada_', ['@Ada'], `<p><em>${mention('@Ada')}</em></p>`],
    [
      '- @Ada\n- ＠小明看',
      ['@Ada', '＠小明'],
      `<ul><li>${mention('@Ada')}</li><li>${mention('＠小明')}看</li></ul>`,
    ],
    // Not the mail address, which is no mention.
    ['jane@Ada and @Ada', [' and @Ada'], `<p>jane@Ada${mention(' and @Ada')}</p>`],
    ['👍👍 @Ada', ['@Ada'], `<p>👍👍 ${mention('@Ada')}</p>`],
  ];
  for (const [text, names, markup] of cases) assert.equal(shown(text, names, '@Me'), markup, text);
});

test('a mention in code or an address, and a text with private characters, show as written', () => {
  assert.equal(shown('`@Ada`', ['@Ada']), '<p><code>@Ada</code></p>');
  assert.match(shown('```\n@Ada\n```', ['@Ada']), /<code>@Ada<\/code>/);
  assert.match(shown('[x](https://a.example/@Ada)', ['@Ada']), /href="https:\/\/a\.example\/@Ada"/);
  assert.equal(shown('\ue000 @Ada', ['@Ada']), '<p>\ue000 @Ada</p>');
});

test('members with one name are one mark, the own one if one of them is the reader', () => {
  const mentions = [
    { entityId: 'a', start: 0, end: 4 },
    { entityId: 'b', start: 0, end: 4 },
    { all: true, start: 5, end: 9 },
    { entityId: 'c', start: 90, end: 95 },
  ];
  render(null, main);
  render(h(Markdown, { text: '@Ada @all', marks: marksOf({ mentions }, 'b') }), main);
  const markup = `<p>${mention('@Ada', ' own')} ${mention('@all')}</p>`;
  assert.equal(main.querySelector('.text').innerHTML, markup);
});

const text = (words) => ({ type: 'text', text: words });
const message = (more = {}) => ({ seq: 1, sender: { id: 'ann' }, parts: [text('Hi')], ...more });
const people = [
  { id: 'ann', type: 'human', role: 'member' },
  { id: 'olga', type: 'human', role: 'owner' },
  { id: 'gus', type: 'human', role: 'member', guest: true },
];
const person = (meId) => ({ isOperator: false, meId, senderId: null, people });
const rights = (given, reader) => {
  const { mayAnswer, mayEdit, mayDelete, mayPin } = rightsOf(given, reader);
  return [mayAnswer, mayEdit, mayDelete, mayPin];
};

test('each reader is offered what the server grants', () => {
  const operator = { isOperator: true, meId: null, senderId: 'ann', people };
  const bot = message({ sender: { id: 'bot' } });
  const card = message({ parts: [{ type: 'tool', name: 'ask' }] });
  const cases = [
    ['own', message(), person('ann'), [true, true, true, true]],
    ['of another', message(), person('gus'), [true, false, false, false]],
    [
      'own, of a guest',
      message({ sender: { id: 'gus' } }),
      person('gus'),
      [true, true, true, false],
    ],
    ['an owner', message(), person('olga'), [true, false, true, true]],
    ['the operator', message(), operator, [true, true, true, true]],
    ['the operator, of an agent', bot, operator, [true, false, true, true]],
    ['without a person', bot, { ...operator, senderId: null }, [false, false, true, true]],
    ['a card', card, person('ann'), [true, false, true, true]],
    [
      'deleted',
      message({ deleted: { by: 'sender' } }),
      person('ann'),
      [false, false, false, false],
    ],
  ];
  for (const [name, given, reader, expected] of cases)
    assert.deepEqual(rights(given, reader), expected, name);
});

test('a message in one line', () => {
  assert.equal(excerptOf('  one\n\n two '), 'one two');
  assert.equal(excerptOf('👍'.repeat(200)), `${'👍'.repeat(120)}…`);
  assert.equal(firstWordsOf(message()), 'Hi');
  const asks = { type: 'tool', name: 'deploy', title: null, ui: 'form', input: { title: 'When?' } };
  const cardOf = (more) => message({ parts: [{ ...asks, ...more }] });
  assert.equal(firstWordsOf(cardOf()), 'When?');
  assert.equal(firstWordsOf(cardOf({ input: {} })), 'deploy asks');
  assert.equal(firstWordsOf(cardOf({ ui: null, title: 'Deploys v2.1' })), 'Deploys v2.1');
  assert.equal(firstWordsOf(cardOf({ ui: null })), 'deploy');
  assert.equal(firstWordsOf(message({ parts: [{ type: 'file', name: 'plan.pdf' }] })), 'plan.pdf');
  assert.equal(firstWordsOf(message({ deleted: { by: 'owner' } })), 'a deleted message');
  assert.equal(deletedWords({ by: 'operator' }), 'Deleted by the operator');
});

test('the first words of a text are those that the reader sees', () => {
  const cases = [
    ['Noted: on **Thursday**, _not_ ~~Friday~~.', 'Noted: on Thursday, not Friday.'],
    [
      '# Plan\n\nFor `main`:\n\n3. a\n4. b\n   - c\n\n- [x] d',
      'Plan For main: 3. a 4. b • c • ☑ d',
    ],
    ['> quoted\n\n---\n\n```sql\nALTER\n```\n', 'quoted ALTER'],
    ['|a|**b**|\n|-|-|\n|1|2|', 'a, b; 1, 2'],
    ['[the *plan*](https://a.example) &amp; ![dog](x.png)', 'the plan & [dog]'],
    ['2 * 3 * 4, snake_case, \\*, <b>&lt;', '2 * 3 * 4, snake_case, *, <b><'],
    ['call(**kwargs) **', 'call(**kwargs) **'],
    ['a\r\nb  \nc', 'a b c'],
    ['\u202eabc &#x202e;', 'U+202Eabc U+202E'],
  ];
  for (const [text, words] of cases) assert.equal(excerptOf(text), words, text);
  // The server may have cut a text in the middle of a mark.
  const long = 'word '.repeat(16);
  for (const end of ['**Thurs', '**', '*', '`mai', '```', '~~Fri', '[Thurs](https://a', '[Thurs]('])
    assert.equal(excerptOf(long + end), (long + end.replace(/[*`~[]|\].*/g, '')).trim(), end);
});

test('the list of spaces says what the last message is', () => {
  const at = '2026-05-01T10:00:00Z';
  const sender = { id: 'bot', name: 'DeployBot' };
  const line = (last) => lastLineOf({ sender, at, createdAt: at, ...last }).text;
  const form = { type: 'tool', name: 'deploy', ui: 'form', input: { title: 'When?' } };
  assert.equal(line({ excerpt: 'on **Thursday**' }), 'DeployBot: on Thursday');
  assert.equal(line({ excerpt: null, deleted: true }), 'DeployBot: deleted');
  assert.equal(line({ parts: [text('on **Thursday**')] }), 'DeployBot: on Thursday');
  assert.equal(line({ parts: [form] }), 'DeployBot: When?');
  assert.equal(line({ parts: [{ type: 'file', name: 'plan.pdf' }] }), 'DeployBot: plan.pdf');
  assert.equal(line({ parts: [], deleted: { by: 'owner' } }), 'DeployBot: deleted');
});

test('the roll call says what an agent reacted with', () => {
  const outcome = { state: 'reacted', reason: '👍' };
  assert.equal(stateWords(outcome), 'reacted 👍');
  assert.equal(reasonOf(outcome), null);
  assert.equal(reasonOf({ state: 'stopped', reason: 'deleted' }), 'its message was deleted');
});
