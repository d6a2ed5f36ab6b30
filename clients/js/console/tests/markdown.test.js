// Markdown in messages: what it shows, and that no markup of other people gets into the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';

const { window } = new JSDOM('<main></main>', { pretendToBeVisual: true });
globalThis.window = window;
globalThis.document = window.document;
const { Markdown, blocksOf, h, render } = await importSource(`
  export { h, render } from 'preact';
  export { Markdown, blocksOf } from './src/page/markdown.tsx';
`);

const main = document.querySelector('main');

function shown(text) {
  render(null, main);
  render(h(Markdown, { text }), main);
  return main.querySelector('.text').innerHTML;
}

test('blocks and inline marks become elements', () => {
  const cases = [
    ['plain', '<p>plain</p>'],
    ['one\ntwo', '<p>one\ntwo</p>'],
    ['**bold** *em* ~~gone~~', '<p><strong>bold</strong> <em>em</em> <s>gone</s></p>'],
    ['# Title', '<h1>Title</h1>'],
    ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['3. c', '<ol start="3"><li>c</li></ol>'],
    ['> quoted', '<blockquote><p>quoted</p></blockquote>'],
    ['`x < y`', '<p><code>x &lt; y</code></p>'],
    ['---', '<hr>'],
    [
      '```js\nlet a;\n```',
      '<div class="code"><pre tabindex="0" aria-label="Code in js"><code>let a;</code></pre></div>',
    ],
    [
      '|a|b|\n|-|-:|\n|1|2|',
      '<table><thead><tr><th>a</th><th class="right">b</th></tr></thead><tbody><tr><td>1</td><td class="right">2</td></tr></tbody></table>',
    ],
  ];
  for (const [text, html] of cases) assert.equal(shown(text), html, text);
});

test('links lead to web pages and mail only', () => {
  const hrefs = (text) => {
    shown(text);
    return [...main.querySelectorAll('a')].map((link) => link.getAttribute('href'));
  };
  assert.deepEqual(hrefs('[a](https://a.example/x?y=1) <mailto:b@b.example> http://c.example'), [
    'https://a.example/x?y=1',
    'mailto:b@b.example',
    'http://c.example',
  ]);
  for (const url of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '&#106;avascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.example',
    '/v1/spaces',
  ])
    assert.deepEqual(hrefs(`[x](${url}) <${url}>`), [], url);
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
});

test('hostile texts of 32 KB do not throw', () => {
  const of = (unit) => unit.repeat(Math.ceil(32_768 / unit.length)).slice(0, 32_768);
  const units = [
    '>',
    '[',
    '![',
    '*',
    '_a_',
    '**a',
    '`',
    '<',
    '- ',
    '&amp;',
    '|a',
    '(',
    '\\',
    '[a](',
    '~~',
    '1. ',
    '\n\n',
    '#',
    'a*b_',
  ];
  for (const unit of units) assert.doesNotThrow(() => shown(of(unit)), unit);
});

test('a text that grows shows what it shows at once in the end', () => {
  const whole =
    '# Plan\n\nFirst *this*,\nthen:\n\n1. one\n2. two\n   - deep\n\n```\ncode\n\nmore\n```\n\n> end\n\nlast';
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
