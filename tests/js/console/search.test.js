// Searching: the switcher finds messages below spaces and pages, and the page of a search has
// filters, neighbours and marks, and goes on with older messages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAccessible } from './accessible.js';
import { waitUntilFocused } from './console_page.js';
import { openFakeRoom } from './fake_server.js';

const SARAH = {
  kind: 'entity',
  entity: { id: 'sarah', name: 'Sarah', type: 'human' },
  spaces: 1,
  capabilities: [],
};
const PHONE = { width: 390, height: 844 };

/** A room whose server finds messages about a plan. `window.asked` has the queries. */
async function openRoom(t, options) {
  const page = await openFakeRoom(t, options);
  await page.evaluate(() => {
    const husam = { id: 'husam', name: 'Husam', type: 'human' };
    const item = (seq, excerpt, more) => {
      const start = excerpt.indexOf('plan');
      return {
        spaceId: 's0',
        spaceName: 'Ops',
        messageId: `m${seq}`,
        seq,
        at: '2026-05-01T11:00:00Z',
        sender: husam,
        excerpt,
        matches: [{ start, end: start + 4 }],
        files: [],
        score: 1,
        alsoSeqs: [],
        before: [],
        after: [],
        ...more,
      };
    };
    const near = (seq, text) => ({ messageId: `n${seq}`, seq, at: '', sender: husam, text });
    window.asked = [];
    window.older = new Promise((resume) => (window.readOlder = resume));
    window.find = async (query) => {
      window.asked.push(Object.fromEntries(query));
      const searched = { spaces: 1, messages: 1000, from: '2026-01-01T00:00:00Z' };
      const answer = { searched, incomplete: false, nextCursor: null };
      if (!query.get('q').includes('plan')) return { ...answer, items: [] };
      if (query.has('cursor')) {
        await window.older;
        return { ...answer, items: [item(3, 'an old plan <b>')] };
      }
      const isOld = query.get('q').includes('old');
      const more = {
        files: ['plan.pdf'],
        alsoSeqs: isOld ? [9] : [9, 10],
        before: [near(7, 'Where is it?')],
        after: [near(9, 'Thank you.')],
      };
      const items = [item(8, 'the plan is in the file', more)];
      return { ...answer, items, ...(isOld && { incomplete: true, nextCursor: 'c1' }) };
    };
  });
  return page;
}

/** Waits until the last query has these parameters. */
const isAsked = (page, wanted) =>
  page.waitForFunction((wanted) => {
    const last = window.asked.at(-1) ?? {};
    return Object.entries(wanted).every(([name, value]) => last[name] === value);
  }, wanted);

const asked = (page) => page.evaluate(() => window.asked);
const status = (place, text) => place.getByRole('status').getByText(text, { exact: true });

// The page asks when nothing was typed for a moment.
const type = async (page, box, text) => {
  await box.fill(text);
  await page.clock.runFor(600);
};

test('the switcher finds messages, in all spaces or in this one', async (t) => {
  const page = await openRoom(t, { data: { me: SARAH } });
  const ids = async () => (await asked(page)).map(({ q, spaceId }) => [q, spaceId]);
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog', { name: 'Jump to' });
  const box = dialog.getByRole('combobox');
  await type(page, box, 'p');
  assert.deepEqual(await ids(), []);
  await type(page, box, 'plan');
  const messages = dialog.getByRole('group', { name: 'Messages' }).getByRole('option');
  await messages.filter({ hasText: 'Husam the plan is in the file in Ops' }).waitFor();
  await status(dialog, '3 messages').waitFor();
  assert.equal(await dialog.locator('mark').textContent(), 'plan');
  await dialog.getByRole('button', { name: 'in this space', pressed: false }).click();
  await isAsked(page, { q: 'plan*', spaceId: 's0' });
  await waitUntilFocused(box);
  await dialog.getByRole('button', { name: 'in this space', pressed: true }).waitFor();
  assert.deepEqual(await ids(), [
    ['plan*', undefined],
    ['plan*', 's0'],
  ]);
  await isAccessible(page);
  await box.press('ArrowDown');
  await dialog.getByRole('option', { name: 'See all messages', selected: true }).waitFor();
  await box.press('ArrowDown');
  await box.press('Enter');
  await page.waitForURL(/#\/s\/s0\/m\/8$/);
});

test('the page of a search has filters, neighbours and marks', async (t) => {
  const page = await openRoom(t, { data: { me: SARAH } });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('plan');
  await page.getByRole('option', { name: 'See all messages' }).click();
  await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
  const box = page.getByRole('combobox', { name: 'Search messages' });
  await waitUntilFocused(box);
  await page.clock.runFor(600);
  const main = page.getByRole('main');
  await status(main, '3 messages').waitFor();
  const row = page.getByRole('list', { name: 'Messages' }).getByRole('link');
  const lines = await row.evaluate((node) => [...node.children].map((each) => each.textContent));
  assert.deepEqual(lines.slice(0, 4), [
    'Husam: Where is it?',
    'Husam the plan is in the file',
    'plan.pdf',
    'Found too: Husam: Thank you.',
  ]);
  assert.match(lines[4], /^in Ops · .* · and 1 more nearby$/);
  assert.equal(await row.locator('mark').textContent(), 'plan');

  await page.getByRole('button', { name: 'Files', pressed: false }).click();
  await isAsked(page, { q: 'plan has:file', sort: 'relevance' });
  assert.equal(await box.inputValue(), 'plan has:file');
  await page.waitForURL((url) => url.hash === '#/search?q=plan+has%3Afile');
  await page.getByRole('button', { name: 'Newest first' }).click();
  await isAsked(page, { q: 'plan has:file', sort: 'newest' });
  await box.press('End');
  await box.pressSequentially(' before:2026-02-18');
  await page.getByRole('button', { name: 'before: 2026-02-18' }).click();
  assert.equal(await box.inputValue(), 'plan has:file');
  await isAccessible(page);
  await type(page, box, 'nothing');
  await status(main, 'No messages').waitFor();
});

test('names complete the filters, and the operator searches named spaces', async (t) => {
  const member = { id: 'husam', name: 'Husam', type: 'human', role: 'member', readSeq: 0 };
  const createdAt = '2026-05-01T10:00:00Z';
  const space = { id: 's7', name: 'Ops room', seq: 0, createdAt, members: [member] };
  const page = await openRoom(t, { data: { listed: [space] } });
  await page.getByRole('link', { name: 'Ops room' }).waitFor();
  await page.evaluate(() => (location.hash = '#/search'));
  const box = page.getByRole('combobox', { name: 'Search messages' });
  await waitUntilFocused(box);
  const option = (name) => page.getByRole('option', { name, selected: true });
  await box.pressSequentially('in:op');
  await option('Ops room').waitFor();
  await box.press('Enter');
  assert.equal(await box.inputValue(), 'in:"Ops room" ');
  await box.pressSequentially('from:h');
  await option('Husam').click();
  await box.pressSequentially('plan');
  assert.equal(await box.inputValue(), 'in:"Ops room" from:Husam plan');
  await page.getByRole('button', { name: 'in: Ops room' }).waitFor();
  await isAsked(page, { q: 'from:Husam plan', spaceId: 's7' });
  await status(page.getByRole('main'), '3 messages').waitFor();
});

test('older messages are searched meanwhile, also on a phone', async (t) => {
  const page = await openRoom(t, { viewport: PHONE });
  await page.getByRole('link', { name: 'Search' }).click();
  const box = page.getByRole('combobox', { name: 'Search messages' });
  await type(page, box, 'old plan');
  const main = page.getByRole('main');
  const older = '2 messages so far. Older messages are still being searched.';
  await status(main, older).waitFor();
  const rows = page.getByRole('list', { name: 'Messages' }).getByRole('listitem');
  assert.equal(await rows.count(), 1);
  await page.evaluate(() => window.readOlder());
  await status(main, '3 messages').waitFor();
  await rows.filter({ hasText: 'an old plan <b>' }).waitFor();
  // The operator searches the open space.
  assert.deepEqual(
    (await asked(page)).map(({ spaceId, cursor }) => [spaceId, cursor]),
    [
      ['s0', undefined],
      ['s0', 'c1'],
    ],
  );
  await rows.first().getByRole('link').click();
  await page.waitForURL(/#\/s\/s0\/m\/8$/);
});

test('the switcher opens in a narrow window, and closes again', async (t) => {
  const page = await openRoom(t, { viewport: PHONE });
  const dialog = page.getByRole('dialog', { name: 'Jump to' });
  const opens = async () => {
    await page.keyboard.press('Control+k');
    await waitUntilFocused(dialog.getByRole('combobox'));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  };
  await opens();
  await page.getByRole('link', { name: 'Search' }).click();
  const box = page.getByRole('combobox', { name: 'Search messages' });
  await waitUntilFocused(box);
  await opens();
  await box.fill('plan');
  assert.equal(await box.inputValue(), 'plan');
});

test('a long list of spaces scrolls, and the page does not', async (t) => {
  const listed = Array.from({ length: 41 }, (_, number) => ({
    id: `u${number}`,
    name: `Room ${number}`,
    seq: 2,
    unread: 2,
    lastMessage: null,
    members: [],
    createdAt: '2026-05-01T10:00:00Z',
  }));
  const page = await openRoom(t, { data: { listed, me: SARAH } });
  await page.getByRole('button', { name: '29 more without news' }).click();
  await page.getByRole('link', { name: 'Room 40' }).waitFor();
  const { height, shown } = await page.evaluate(() => ({
    height: document.documentElement.scrollHeight,
    shown: window.innerHeight,
  }));
  assert.equal(height, shown);
});

test('what is still typed is no error, and an error is a sentence', async (t) => {
  const page = await openRoom(t, { data: { me: SARAH } });
  await page.evaluate(() => {
    const { find } = window;
    window.find = (query) => {
      if (!query.get('q').includes(':')) return find(query);
      window.asked.push(Object.fromEntries(query));
      const errors = [{ pointer: '/q', detail: 'expected a sender, got "sa"' }];
      return window.refuse(422, { detail: 'wrong', errors });
    };
    location.hash = '#/search';
  });
  const box = page.getByRole('combobox', { name: 'Search messages' });
  await waitUntilFocused(box);
  await page.getByRole('list', { name: 'Filters' }).waitFor();
  await isAccessible(page);
  const main = page.getByRole('main');
  await type(page, box, 'plan');
  await status(main, '3 messages').waitFor();
  for (const text of ['plan from:', 'plan from:sa', 'plan has:f', 'plan before:2026']) {
    await type(page, box, text);
    await status(main, '3 messages').waitFor();
  }
  assert.equal((await asked(page)).length, 1);
  await type(page, box, 'plan from:sa ');
  await main
    .getByRole('alert')
    .getByText('Expected a sender, got "sa".', { exact: true })
    .waitFor();
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
});

test('the arrows reach the messages, and the focus stays where one works', async (t) => {
  const page = await openRoom(t, { data: { me: SARAH } });
  await page.evaluate(() => {
    const { find } = window;
    window.find = async (query) => {
      const answer = await find(query);
      const from = query.has('cursor') ? 10 : 0;
      const items = Array.from({ length: 10 }, (_, index) => ({
        ...answer.items[0],
        messageId: `i${from + index}`,
        seq: 20 + from + index,
      }));
      // A later page may repeat an item.
      if (from > 0) items[0] = { ...items[0], messageId: 'i0' };
      return { ...answer, items, nextCursor: from > 0 ? null : 'c1' };
    };
    window.readOlder();
    location.hash = '#/search?q=plan+has%3Afile+before%3A2026-02-18';
  });
  const box = page.getByRole('combobox', { name: 'Search messages' });
  await waitUntilFocused(box);
  await page.clock.runFor(600);
  const rows = page.getByRole('list', { name: 'Messages' }).getByRole('link');
  await page.getByRole('button', { name: 'Show more' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await waitUntilFocused(rows.first());
  await page.keyboard.press('ArrowDown');
  await waitUntilFocused(rows.nth(1));
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await waitUntilFocused(box);
  await page.getByRole('button', { name: 'Show more' }).press('Enter');
  await waitUntilFocused(rows.nth(10));
  assert.equal(await rows.count(), 19);
  await page.getByRole('button', { name: 'before: 2026-02-18' }).press('Enter');
  await waitUntilFocused(box);
  assert.equal(await box.inputValue(), 'plan has:file');
});

test('the list of the switcher scrolls with its current option', async (t) => {
  const listed = Array.from({ length: 8 }, (_, number) => ({
    id: `u${number}`,
    name: `Plan ${number}`,
    seq: 0,
    unread: 0,
    lastMessage: null,
    members: [],
    createdAt: '2026-05-01T10:00:00Z',
  }));
  const page = await openRoom(t, { data: { listed, me: SARAH } });
  for (const size of [
    { width: 1440, height: 500 },
    { width: 844, height: 390 },
    { width: 390, height: 400 },
  ]) {
    await page.setViewportSize(size);
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Jump to' });
    const box = dialog.getByRole('combobox');
    await type(page, box, 'plan');
    const last = dialog.getByRole('option', { name: 'See all messages' });
    await last.waitFor();
    await box.press('ArrowUp');
    await dialog.getByRole('option', { name: 'See all messages', selected: true }).waitFor();
    const { bottom, top, end } = await last.evaluate((node) => ({
      ...node.getBoundingClientRect().toJSON(),
      end: node.closest('dialog').getBoundingClientRect().bottom,
    }));
    assert.ok(top > 0 && bottom <= end && end <= size.height, JSON.stringify({ top, bottom, end }));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
});
