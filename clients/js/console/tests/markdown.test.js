// Markdown in messages: what it shows, and that no markup of other people gets into the page.

import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';

const { window } = new JSDOM('<main></main>', { pretendToBeVisual: true });
globalThis.window = window;
globalThis.document = window.document;
const { BoundedLexer, Markdown, blocksOf, h, render, stepsFor } = await importSource(`
  export { h, render } from 'preact';
  export { BoundedLexer, stepsFor } from './src/markdown/lexer.ts';
  export { Markdown, blocksOf } from './src/markdown/markdown.tsx';
`);

const main = document.querySelector('main');

function shown(text) {
  render(null, main);
  render(h(Markdown, { text }), main);
  return main.querySelector('.text').innerHTML;
}

const CODE = (text) =>
  `<div class="code"><pre tabindex="0" aria-label="Code"><code>${text}</code></pre></div>`;

test('blocks and inline marks become elements', () => {
  const cases = [
    ['plain', '<p>plain</p>'],
    ['one\ntwo', '<p>one\ntwo</p>'],
    ['**bold** *em* ~~gone~~', '<p><strong>bold</strong> <em>em</em> <s>gone</s></p>'],
    ['# Title', '<h1>Title</h1>'],
    ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['1. c', '<ol><li>c</li></ol>'],
    ['3. c', '<ol start="3"><li>c</li></ol>'],
    ['0. c', '<ol start="0"><li>c</li></ol>'],
    ['- a\n  - b', '<ul><li>a<ul><li>b</li></ul></li></ul>'],
    ['- [ ] a\n- [x] b', '<ul><li>☐ a</li><li>☑ b</li></ul>'],
    ['one  \n  two\\\nthree', '<p>one\ntwo\nthree</p>'],
    ['10~20, 30~40', '<p>10~20, 30~40</p>'],
    ['    code\n\n    more', CODE('code\n\nmore')],
    ['```\na\n\n```', CODE('a\n')],
    ['![a & b](x.png)', '<p>[a &amp; b]</p>'],
    ['[a]\n\n[a]: /b', '<p>[a]</p><p>[a]: /b</p>'],
    ['> quoted', '<blockquote><p>quoted</p></blockquote>'],
    ['`x < y`', '<p><code>x &lt; y</code></p>'],
    ['---', '<hr>'],
    [
      '```js\nlet a;\n```',
      '<div class="code"><pre tabindex="0" aria-label="Code in js"><code>let a;</code></pre></div>',
    ],
    [
      '|a|b|\n|-|-:|\n|1|2|',
      '<table><thead><tr><th>a</th><th class="right">b</th></tr></thead>' +
        '<tbody><tr><td>1</td><td class="right">2</td></tr></tbody></table>',
    ],
  ];
  for (const [text, html] of cases) assert.equal(shown(text), html, text);
});

test('references and escapes are the characters that they stand for, once', () => {
  const cases = [
    ['a < b && c > "d"', 'a < b && c > "d"'],
    ['&lt;b&gt; &copy; &AMP; &#60; &#x3C;', '<b> © & < <'],
    ['&amp;lt; &#38;lt; \\&lt; \\*', '&lt; &lt; &lt; *'],
    ['&notes; &nothing; &; & &#0;', '&notes; &nothing; &; & \ufffd'],
    ['`<b> &amp; \\*`', '<b> &amp; \\*'],
    ['```\n<b> &amp;\n```', '<b> &amp;'],
    ['    <b> &amp;', '<b> &amp;'],
    ['# a &amp; b', 'a & b'],
    ['|a &amp; b|\n|-|', 'a & b'],
    ['[a &amp; b](https://a.example)', 'a & b'],
  ];
  for (const [text, expected] of cases) {
    shown(text);
    assert.equal(main.querySelector('.text').textContent, expected, text);
  }
});

test('links lead to web pages and mail only', () => {
  const hrefs = (text) => {
    shown(text);
    return [...main.querySelectorAll('a')].map((link) => link.getAttribute('href'));
  };
  assert.deepEqual(hrefs('[a](https://a.example/x?y=1) <mailto:b@b.example> http://c.example'), [
    'https://a.example/x?y=1',
    'mailto:b@b.example',
    'http://c.example/',
  ]);
  assert.deepEqual(hrefs('www.a.example b@b.example [c](HTTPS://C.example/?d=1&amp;e=2)'), [
    'http://www.a.example/',
    'mailto:b@b.example',
    'https://c.example/?d=1&e=2',
  ]);
  // The used address is the checked one: a browser can't read it in another way.
  assert.deepEqual(hrefs('[a](<\u0001https:b.example/\u0007\tc>)'), ['https://b.example/%07c']);
  for (const url of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '&#106;avascript:alert(1)',
    'javascript&#58;alert(1)',
    'javascript&colon;alert(1)',
    '&#1;javascript:alert(1)',
    'java&Tab;script:alert(1)',
    'java&NewLine;script:alert(1)',
    '\\javascript:alert(1)',
    'javascript\\:alert(1)',
    'blob:https://a.example/x',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.example',
    '/v1/spaces',
  ])
    assert.deepEqual(hrefs(`[x](${url}) [x](<${url}>) <${url}>`), [], url);
  assert.equal(shown('[x **y**](javascript:alert)'), '<p>x <strong>y</strong></p>');
});

test('markup of other people is text', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '![x](https://evil.example/pixel.png)',
    '[x](https://a.example" onclick="alert(1))',
    '<svg/onload=alert(1)>',
    '`<b>`',
    '<!-- <img src=x> -->',
    '```<img src=x onerror=1>\n<b>\n```',
    '&lt;script>alert(1)&lt;/script>',
    '&<img src=x onerror=alert(1)>;',
    '- <iframe src="//a.example">\n> <script>',
    '|<svg onload=x>|\n|-|\n|<b>|',
    '[<img src=x>](https://a.example)',
    '![<img src=x>](x)',
  ];
  for (const text of hostile) {
    shown(text);
    const tags = [...main.querySelectorAll('.text *')].map(({ localName }) => localName);
    assert.deepEqual(
      tags.filter((tag) => ['script', 'img', 'svg', 'b', 'iframe'].includes(tag)),
      [],
      text,
    );
    for (const node of main.querySelectorAll('.text *'))
      for (const { name } of node.attributes) assert.ok(!name.startsWith('on'), `${text}: ${name}`);
  }
  const literal = ['<div>x</div>', '<b title="y">x</b>', '<!-- a -->', '<script>\n\nx', '</p>'];
  for (const text of literal) {
    shown(text);
    const paragraphs = [...main.querySelectorAll('.text > p')].map(
      ({ textContent }) => textContent,
    );
    assert.deepEqual(paragraphs, text.split('\n\n'), text);
  }
  assert.equal(shown('<div>\n**x**</div>'), '<p>&lt;div&gt;\n<strong>x</strong>&lt;/div&gt;</p>');
});

test('deep nesting is shown as text from some depth on', () => {
  const depthOf = (node) => 1 + Math.max(0, ...[...node.children].map(depthOf));
  const marks = ['> ', '>', '- ', '* ', '1. ', '> - ', '*', '_', '**', '*~~', '[', '![', '*[_'];
  for (const mark of marks) {
    const closing =
      { '[': '](b)', '![': '](b)', '*[_': '_](b)*', '*~~': '~~*' }[mark] ?? mark.trim();
    const text = `${mark.repeat(1000)}a${closing.repeat(1000)}`;
    shown(text);
    assert.ok(depthOf(main) < 60, mark);
    assert.match(main.textContent, /a/, mark);
  }
});

// Texts that once took a time that grew with the square of their length, or nearly so.
function hostileTexts(size) {
  const of = (unit) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
  const units = (
    '> |-|\n [ ![ * _a_ *a_ _*a **a__ **a a* ` `a < <a &amp; |a ( \\ [a]( [a](() [[a](b)]( ' +
    '~~ ~~a # a*b_ ! a@ www. http://a.b( \\[ [a](b) <!--x> <?x> http://a.b(&a; a@a.a-'
  ).split(' ');
  const spaced = '- |1. |*a |_a |~~a |- a\n|> a\nb\n|> # a\nb\n|a\n=| |\n\n|- - - a\n'.split('|');
  const columns = Math.ceil(size / 8);
  return [
    // Tables that interrupt paragraphs, in lists and quotes.
    `[${of('-\n*a|-|a|\n|-|\n')}`,
    `> ${of('|a|\n|-|\n~a')}`,
    `> ${of(')** |a|\n|-|\n')}`,
    ...[...units, ...spaced].flatMap((unit) => [of(unit), `- ${of(unit)}`]),
    `- ${of('_\n')}`,
    `- ${of('a|b\n')}`,
    `${'* '.repeat(size / 4)}\n${of('* *\n').slice(size / 2)}`,
    `${'[a'.repeat(11)}${of('](b)')}`,
    `${'> - '.repeat(6)}a\n${of('b\n> c\n')}`,
    // A table of many cells, all but one of each row empty.
    `${'|a'.repeat(columns)}|\n${'|-'.repeat(columns)}|\n${'a\n'.repeat(columns)}`,
    `[<${'`'.repeat(size / 2)}${'a'.repeat(size / 4)}${'`'.repeat(size / 4)}](b)`,
  ];
}

// Blocks in blocks, which begin in the middle of each other.
function nestedText(random, size) {
  const marks =
    '> ~- ~* ~1. ~  ~    ~[~|a|~|a|b|~|-|~|-|-|~|~a~x~)** ~*~_~`~``~# ~===~---~```~!~](b)~&amp;~' +
    '\\[~a b c d~\n~\n~\n~\n~\n\n';
  const all = marks.split('~');
  const some = (count) => Array.from({ length: count }, () => all[random(all.length)]).join('');
  const unit = some(2 + random(9));
  return some(random(4)) + unit.repeat(Math.ceil(size / unit.length));
}

const SIZES = [4096, 8192, 16_384, 32_768];

// The steps that a text takes: all of it as blocks, then the lines in them. Null: too many.
function stepsOf(text) {
  const lexer = new BoundedLexer(text);
  try {
    lexer.blockTokens(text);
    for (const { src, tokens } of lexer.inlineQueue) lexer.inlineTokens(src, tokens);
  } catch (error) {
    assert.equal(error.message, 'too many steps');
    return null;
  }
  return stepsFor(text.length) - lexer.budget.left;
}

test('a text takes at most 40 steps for each character, and 2,000', () => {
  assert.equal(stepsFor(1000), 42_000);
  const random = seeded(18);
  const nested = SIZES.flatMap((size) =>
    Array.from({ length: 60 }, () => nestedText(random, size)),
  );
  const texts = [...SIZES.flatMap(hostileTexts), ...nested];
  for (const text of texts) {
    const start = process.cpuUsage();
    const steps = stepsOf(text);
    assert.ok(steps === null || steps <= stepsFor(text.length), JSON.stringify(text.slice(0, 40)));
    // So the steps count what takes time: no rule does much work that they leave out. The limit is
    // far above the worst text on a busy machine; the worst text once took three seconds.
    const seconds = process.cpuUsage(start).user / 1e6;
    assert.ok(seconds < 1, `${JSON.stringify(text.slice(0, 40))} takes ${seconds} s`);
  }
});

test('usual texts take fewer than ten steps for each character', async () => {
  const folder = new URL('../../../../docs/', import.meta.url);
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.md$/.test(name));
  assert.ok(names.length > 20);
  for (const name of names) {
    const text = await readFile(new URL(name, folder), 'utf8');
    const steps = stepsOf(text);
    assert.ok(steps !== null && steps < 10 * text.length, `${name}: ${steps / text.length}`);
  }
});

test('a text that takes too many steps is shown as it is', () => {
  const text = '> # *a*\n&lt;\n'.repeat(1000);
  assert.equal(stepsOf(text), null);
  shown(text);
  const [node] = main.querySelectorAll('.text');
  assert.equal(node.textContent, text);
  assert.equal(node.children.length, 0);
  // So is the rest of the text.
  shown(`*before*\n\n${text}`);
  assert.equal(main.querySelector('.text').textContent, `*before*\n\n${text}`);
});

test('a text of megabytes is shown', () => {
  const text = 'a\n'.repeat(1_500_000);
  shown(text);
  assert.equal(main.querySelector('.text').textContent.trimEnd(), text.trimEnd());
});

test('a text that grows shows what it shows at once in the end', () => {
  const whole =
    '# Plan\n\nFirst *this*,\nthen:\n\n1. one\n2. two\n   - deep\n\n' +
    '```\ncode\n\nmore\n```\n\n> end\n\nlast';
  const atOnce = shown(whole);
  render(null, main);
  let blocks = [];
  for (let length = 1; length <= whole.length; length += 1) {
    render(h(Markdown, { text: whole.slice(0, length), streaming: true }), main);
    const before = blocks;
    blocks = blocksOf(whole.slice(0, length), before);
    assert.equal(blocks.join(''), whole.slice(0, length));
  }
  assert.equal(main.querySelector('.text').innerHTML, atOnce);
});

test('texts that grow in any steps show what they show at once', () => {
  const list =
    '\n|\n|\n\n| |    |\t|- |* |1. |2. |10) |> |# |##x|---|***|==|```|```js|~~~|text|**|*|_|`|' +
    '[a](b)|<div>|</div>|<!--|[a]: b|[ ] |\\|&amp;|http://a.b|\r\n|\r';
  const fragments = list.split('|').concat('|', '|-|', 'a | b', '|a|b|');
  const random = seeded(7);
  for (let round = 0; round < 300; round += 1) {
    const text = Array.from({ length: 3 + random(20) }, () => fragments[random(fragments.length)]);
    const whole = text.join('');
    const atOnce = shown(whole);
    render(null, main);
    for (let length = 1; length < whole.length; length += 1 + random(4))
      render(h(Markdown, { text: whole.slice(0, length), streaming: true }), main);
    render(h(Markdown, { text: whole }), main);
    assert.equal(main.querySelector('.text').innerHTML, atOnce, JSON.stringify(whole));
  }
});

test('blocks that are finished are not parsed again', () => {
  const before = blocksOf('one\n\ntwo\n\nthree\nfour', []);
  assert.deepEqual(before, ['one\n\n', 'two\n\n', 'three\nfour']);
  // A list would take what follows it, so these blocks can only come from before.
  const blocks = blocksOf('- a\n\n- b\n\n- c\n\nx\n\n', ['- a\n\n', '- b\n\n', '- c']);
  assert.deepEqual(blocks, ['- a\n\n', '- b\n\n- c\n\n', 'x\n\n']);
  assert.deepEqual(blocksOf('other', before), ['other']);
});

// The same numbers in each run.
function seeded(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}
