// Mentions: the table of cases that the server is held to, too.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { moduleOf } from './model/library.js';

const { findMentions } = await moduleOf('index.js');

const TABLE = new URL('../../../../shared/domain/src/mentions/cases.json', import.meta.url);

const named = (names) => names.map((name, index) => ({ id: String(index), name }));

test('the mentions of every case are found', async () => {
  const sections = JSON.parse(await readFile(TABLE, 'utf8'));
  let count = 0;
  for (const { about, members, cases } of sections) {
    for (const [text, mentions] of cases) {
      const expected = mentions.map(([start, end, index]) =>
        index === null ? { all: true, start, end } : { entityId: String(index), start, end },
      );
      assert.deepEqual(findMentions(text, named(members)), expected, `${about}: ${text}`);
      count += 1;
    }
  }
  assert.ok(count >= 150, String(count));
});

test('the first thousand signs are looked at and fifty mentions stay', () => {
  const count = (text) => findMentions(text, named(['A', 'a'])).length;
  assert.equal(count(`${'@x '.repeat(999)}@A`), 2);
  assert.equal(count(`${'@x '.repeat(1000)}@A`), 0);
  assert.equal(count(`${'`@`'.repeat(1000)} @A`), 0);
  assert.equal(count('@A '.repeat(60)), 50);
});

test('long names and texts of signs take at most twenty times as long as prose', () => {
  const names = named(Array.from({ length: 500 }, (_, index) => '@'.repeat(97) + index));
  const bytes = 32 * 1024;
  const time = (text) => {
    const took = Array.from({ length: 5 }, () => {
      const began = performance.now();
      findMentions(text, names);
      return performance.now() - began;
    });
    return Math.min(...took);
  };
  const prose = time('We ship on Friday, ask @Bob. '.repeat(bytes / 29));
  for (const unit of ['@', '＠', '@a', '`', '` ``', '\\', '-', '- ', '> ', '\u200d', '\n']) {
    const took = time(`@${unit.repeat(bytes / unit.length)}@`);
    assert.ok(took <= prose * 20, `${JSON.stringify(unit)}: ${took} ms, prose ${prose} ms`);
  }
});
