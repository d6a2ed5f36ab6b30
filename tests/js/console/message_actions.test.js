// Reply, thread, react, edit, delete and pin: by mouse, by keyboard alone, and on a phone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAccessible, isAccessibleAt } from './accessible.js';
import {
  openSpace,
  openTab,
  send,
  signInAs,
  storedEntry,
  waitUntilFocused,
  waitUntilTaken,
} from './console_page.js';
import { api, browser, husam, product, sarah } from './suite.js';
import { tokenOf } from '../api_client.js';

const PHONE = { width: 390, height: 844 };

const entry = (page, seq) => page.locator(`#bubbles .entry[data-seq="${seq}"]`);
const act = (page, seq, name) => entry(page, seq).getByRole('button', { name, exact: true });
/** A button that is behind the last one of the bar. */
async function choose(page, seq, name) {
  await entry(page, seq).hover();
  await act(page, seq, 'More').click();
  await act(page, seq, name).click();
}
const box = (page) => page.getByRole('textbox', { name: 'Message' });
const thread = (page) => page.getByRole('complementary', { name: 'Thread' });

/** A tab of a person in this space. */
async function tabOf(t, person, space) {
  const page = await openTab(t);
  await signInAs(page, person, `#/s/${space.id}`);
  await page.getByRole('heading', { name: space.name, exact: true }).waitFor();
  return page;
}

/** A space of Husam and Sarah, in which Sarah has written these texts. */
async function room(name, ...texts) {
  const space = await api.createSpace(name, [husam, sarah]);
  for (const text of texts) await api.postMessage(space, sarah, text);
  return space;
}

test('a reply shows its parent, and its thread opens beside the messages', async (t) => {
  const space = await room('Replies', 'Shall we ship on Friday?', 'And who watches?');
  const [his, hers] = [await tabOf(t, husam, space), await tabOf(t, sarah, space)];
  await entry(his, 1).hover();
  await act(his, 1, 'Reply').click();
  await his.locator('#composer').getByText('Reply to Sarah').waitFor();
  await waitUntilFocused(box(his));
  await send(his, 'Yes, on Friday.');
  for (const page of [his, hers]) {
    const parent = entry(page, 3).getByRole('link', { name: /Sarah Shall we ship on Friday\?/ });
    await parent.waitFor();
  }
  assert.equal(await his.locator('.target').count(), 0);
  const [, , stored] = await api.messages(space);
  assert.deepEqual([stored.replyTo.seq, stored.thread], [1, 1]);

  // The line jumps to the parent.
  await entry(hers, 3).getByRole('link').click();
  await hers.locator('.entry.marked[data-seq="1"]').waitFor();

  await choose(hers, 3, 'Thread');
  await thread(hers).locator('.entry[data-seq="3"]').waitFor();
  assert.match(hers.url(), /\?thread=1$/);
  await thread(hers).getByText('Replies to Husam: Yes, on Friday.').waitFor();
  await thread(hers).getByLabel('Reply in this thread').fill('Good.');
  await thread(hers).getByLabel('Reply in this thread').press('Enter');
  await thread(hers).locator('.entry[data-seq="4"]').waitFor();
  await storedEntry(his, 'Good.').waitFor();
  // The message that is no reply is not in it.
  assert.equal(await thread(hers).getByText('And who watches?').count(), 0);
  await isAccessible(hers);
  await thread(hers).getByLabel('Reply in this thread').press('Escape');
  await thread(hers).waitFor({ state: 'detached' });
});

test('the bar of a message covers nothing of it', async (t) => {
  const line = 'This line is as long as the room has place for it. ';
  const space = await room('Covered', line.repeat(6), line.repeat(6));
  const page = await tabOf(t, husam, space);
  for (const seq of [1, 2]) {
    await entry(page, seq).hover();
    const [bar, text] = await Promise.all([
      entry(page, seq).getByRole('toolbar').boundingBox(),
      entry(page, seq).locator('.text').boundingBox(),
    ]);
    assert.ok(bar.y + bar.height <= text.y + 1, `message ${seq}`);
  }
});

test('the operator chooses in a thread in whose name it replies', async (t) => {
  const space = await room('Operated', 'One');
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilTaken(page);
  await page.goto(`${product.base}/#/s/${space.id}?thread=1`);
  await thread(page).getByText('No replies yet.').waitFor();
  await thread(page).getByLabel('To reply here, write as').selectOption('Husam');
  await thread(page).getByLabel('Reply in this thread').fill('Two');
  await thread(page).getByLabel('Reply in this thread').press('Enter');
  await thread(page).locator('.entry[data-seq="2"]').waitFor();
  await thread(page).getByText('No replies yet.').waitFor({ state: 'detached' });
  const [, reply] = await api.messages(space);
  assert.deepEqual([reply.sender.id, reply.thread], [husam.id, 1]);
});

test('a reaction is counted once, by whom, and taken back', async (t) => {
  const space = await room('Thumbs', 'Deployed.');
  const [his, hers] = [await tabOf(t, husam, space), await tabOf(t, sarah, space)];
  const chip = (page, name) =>
    entry(page, 1).locator('.reactions').getByRole('button', { name, exact: true });
  await entry(his, 1).hover();
  await act(his, 1, 'React with 👍').click();
  await chip(hers, '👍 1: Husam').click();
  for (const page of [his, hers]) await chip(page, '👍 2: Husam, Sarah').waitFor();
  assert.equal(await chip(hers, '👍 2: Husam, Sarah').getAttribute('aria-pressed'), 'true');
  await entry(his, 1).hover();
  await act(his, 1, 'React').click();
  const dialog = his.getByRole('dialog', { name: 'React with' });
  await dialog.getByRole('button', { name: '🎉' }).waitFor();
  await isAccessible(his);
  await dialog.getByRole('button', { name: '🎉' }).click();
  await chip(hers, '🎉 1: Husam').waitFor();
  await chip(hers, '👍 2: Husam, Sarah').click();
  await chip(his, '👍 1: Husam').waitFor();
  const [{ reactions }] = await api.messages(space);
  assert.deepEqual(
    reactions.map(({ emoji, count, entityIds }) => [emoji, count, entityIds]).sort(),
    [
      ['🎉', 1, [husam.id]],
      ['👍', 1, [husam.id]],
    ],
  );
});

test('what is no emoji is refused at the top of the page', async (t) => {
  const space = await room('No emoji', 'Deployed.');
  const page = await openTab(t, { expected: [/status of 422/] });
  await signInAs(page, husam, `#/s/${space.id}`);
  await entry(page, 1).hover();
  await act(page, 1, 'React').click();
  await page.getByLabel('Another emoji').fill('no');
  await page.getByLabel('Another emoji').press('Enter');
  await page.getByRole('alert').getByText('expected one emoji').waitFor();
});

test('an edit begins with ↑, keeps the draft, and says that it wakes nobody', async (t) => {
  const ada = await api.createAgent('Ada', []);
  const space = await api.createSpace('Edits', [husam, sarah, ada], { triggerPolicy: 'mention' });
  const [his, hers] = [await tabOf(t, husam, space), await tabOf(t, sarah, space)];
  await send(his, 'We ship on Thursday.');
  await storedEntry(his, 'We ship on Thursday.').waitFor();
  await box(his).press('ArrowUp');
  await his.getByRole('button', { name: 'Save' }).waitFor();
  assert.equal(await box(his).inputValue(), 'We ship on Thursday.');
  assert.equal(await his.getByText('An edit wakes nobody.').count(), 0);
  await box(his).fill('@Ada we ship on Friday.');
  await his.getByText('An edit wakes nobody.').waitFor();
  await box(his).press('Enter');
  for (const page of [his, hers]) {
    await storedEntry(page, '@Ada').waitFor();
    await entry(page, 1).getByText('edited', { exact: true }).waitFor();
    assert.equal(await page.getByText('Thursday').count(), 0);
  }
  assert.equal((await api.runs(space)).length, 0);

  // Leaving an edit brings the draft back.
  await box(his).fill('A draft');
  await choose(his, 1, 'Edit');
  await his.getByRole('button', { name: 'Save' }).waitFor();
  assert.equal(await box(his).inputValue(), '@Ada we ship on Friday.');
  await box(his).press('Escape');
  await his.getByRole('button', { name: 'Send' }).waitFor();
  assert.equal(await box(his).inputValue(), 'A draft');
  // Others' messages are not offered.
  await entry(hers, 1).hover();
  await act(hers, 1, 'Reply').waitFor();
  await act(hers, 1, 'More').click();
  await act(hers, 1, 'Thread').waitFor();
  assert.equal(await act(hers, 1, 'Edit').count(), 0);
  assert.equal(await act(hers, 1, 'Delete').count(), 0);
});

test('the operator edits the messages of the chosen person, and of nobody else', async (t) => {
  const space = await room('Edited by the operator', 'Of Sarah');
  await api.postMessage(space, husam, 'Of Husam');
  const page = await openTab(t);
  await openSpace(page, 'Edited by the operator');
  await page.getByRole('combobox', { name: 'as' }).selectOption('Husam');
  await choose(page, 2, 'Edit');
  await box(page).fill('Of Husam, edited');
  await box(page).press('Enter');
  await storedEntry(page, 'Of Husam, edited').waitFor();
  await entry(page, 1).hover();
  await act(page, 1, 'More').click();
  await act(page, 1, 'Delete').waitFor();
  assert.equal(await act(page, 1, 'Edit').count(), 0);
});

test('a deleted message leaves a line for everyone', async (t) => {
  const space = await room('Deleted', 'The key is 4711.');
  const [his, hers] = [await tabOf(t, husam, space), await tabOf(t, sarah, space)];
  await his.getByText('The key is 4711.').waitFor();
  await choose(hers, 1, 'Delete');
  const dialog = hers.getByRole('dialog', { name: 'Delete this message?' });
  await dialog.getByText('If it was a secret, change the secret.').waitFor();
  await isAccessible(hers);
  await dialog.getByRole('button', { name: 'Keep it' }).click();
  await dialog.waitFor({ state: 'detached' });
  await choose(hers, 1, 'Delete');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  for (const page of [his, hers]) {
    await entry(page, 1).getByText('Deleted by its sender').waitFor();
    assert.equal(await page.getByText('4711').count(), 0);
  }
  await his.reload();
  await entry(his, 1).getByText('Deleted by its sender').waitFor();
});

test('pinned messages are a line in the head', async (t) => {
  const space = await room('Pinned', 'We ship on Fridays.', 'Omar is on call.');
  const [his, hers] = [await tabOf(t, husam, space), await tabOf(t, sarah, space)];
  for (const seq of [1, 2]) {
    await choose(his, seq, 'Pin');
    await entry(his, seq)
      .getByRole('button', { name: 'Unpin', includeHidden: true })
      .waitFor({ state: 'attached' });
  }
  const pins = hers.locator('.pins');
  await pins.getByText('and 1 more').waitFor();
  await pins.locator('summary').click();
  const list = pins.getByRole('list', { name: 'Pinned messages' });
  await list.getByRole('link', { name: /We ship on Fridays\./ }).waitFor();
  await isAccessible(hers);
  await list.getByRole('link', { name: /We ship on Fridays\./ }).click();
  await hers.locator('.entry.marked[data-seq="1"]').waitFor();
  await list.getByRole('button', { name: 'Unpin message 1' }).click();
  await list.getByRole('link', { name: /Fridays/ }).waitFor({ state: 'detached' });
  await list.getByRole('button', { name: 'Unpin message 2' }).click();
  for (const page of [his, hers]) await page.locator('.pins').waitFor({ state: 'detached' });
});

test('mentions are marked, counted and listed', async (t) => {
  const space = await api.createSpace('Named', [husam, sarah]);
  const elsewhere = await api.createSpace('Elsewhere', [husam, sarah]);
  const his = await tabOf(t, husam, elsewhere);
  await api.postMessage(space, sarah, 'Is @Husam here, `@Husam`? @Sarah is.');
  const link = his.getByRole('link', { name: /^Mentions/ });
  await link.getByText('1 unread').waitFor();
  await link.click();
  const list = his.getByRole('list', { name: 'Mentions' });
  await list.getByText('mentions you in Named').waitFor();
  await isAccessible(his);
  await list.getByRole('link', { name: /Is @Husam here/ }).click();
  await entry(his, 1).locator('.mention.own').getByText('@Husam').waitFor();
  assert.deepEqual(await entry(his, 1).locator('.mention').allInnerTexts(), ['@Husam', '@Sarah']);
  await link.getByText('unread').waitFor({ state: 'detached' });
});

test('the roll call says that an agent reacted', async (t) => {
  const react = { calls: [{ tool: 'react', input: { seq: 1, emoji: '👍' } }] };
  const rule = { when: { trigger: 'space_message', sender: 'human' }, steps: [react] };
  const config = { loop: { endAfterSend: true } };
  const thumb = await api.createAgent('Thumb', [rule], 0, [], config);
  const space = await api.createSpace('Acknowledged', [husam, thumb]);
  const page = await tabOf(t, husam, space);
  await send(page, 'The release is out.');
  await entry(page, 1).getByRole('button', { name: 'Thumb reacted 👍' }).waitFor();
  await entry(page, 1).getByRole('button', { name: '👍 1: Thumb' }).waitFor();
  assert.equal((await api.messages(space)).length, 1);
});

test('the keyboard alone does all of it', async (t) => {
  const space = await room('Keys', 'One', 'Two');
  await api.postMessage(space, husam, 'Three');
  const page = await tabOf(t, husam, space);
  await storedEntry(page, 'Three').waitFor();
  // Above the box is the last message, behind its own buttons.
  await box(page).focus();
  const isFocused = () => entry(page, 3).evaluate((node) => node === document.activeElement);
  for (let count = 0; count < 5 && !(await isFocused()); count += 1)
    await page.keyboard.press('Shift+Tab');
  await waitUntilFocused(entry(page, 3));
  await page.keyboard.press('ArrowUp');
  await waitUntilFocused(entry(page, 2));
  await page.keyboard.press('ArrowUp');
  await waitUntilFocused(entry(page, 1));
  await act(page, 1, 'Reply').waitFor();
  await isAccessible(page);

  await page.keyboard.press('r');
  await waitUntilFocused(box(page));
  await page.keyboard.type('Four');
  await page.keyboard.press('Enter');
  await entry(page, 4)
    .getByRole('link', { name: /Sarah One/ })
    .waitFor();

  await entry(page, 1).focus();
  await page.keyboard.press('t');
  await thread(page).locator('.entry[data-seq="4"]').waitFor();
  await page.keyboard.press('Escape');
  await thread(page).waitFor({ state: 'detached' });
  await waitUntilFocused(entry(page, 1));

  await page.keyboard.press('+');
  await page.getByRole('dialog', { name: 'React with' }).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await entry(page, 1).getByRole('button', { name: '👎 1: Husam' }).waitFor();
  await waitUntilFocused(entry(page, 1));

  await page.keyboard.press('p');
  await page.locator('.pins summary').getByText('One').waitFor();

  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await waitUntilFocused(entry(page, 3));
  await page.keyboard.press('e');
  await page.getByRole('button', { name: 'Save' }).waitFor();
  await page.keyboard.type(', edited');
  await page.keyboard.press('Enter');
  await storedEntry(page, 'Three, edited').waitFor();
  await entry(page, 3).focus();
  await page.keyboard.press('Delete');
  await page.getByRole('dialog', { name: 'Delete this message?' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await entry(page, 3).getByText('Deleted by its sender').waitFor();
  await waitUntilFocused(entry(page, 3));
});

test('on a phone a touch shows the bar, and a thread is a page', async (t) => {
  const space = await room('Phone', 'One');
  const context = await browser.newContext({ viewport: PHONE, hasTouch: true, isMobile: true });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`${product.base}/#token=${tokenOf(husam, product.jwtSecret)}`);
  await page.waitForURL((url) => !url.hash.startsWith('#token='));
  await page.goto(`${product.base}/#/s/${space.id}`);
  await storedEntry(page, 'One').waitFor();
  const pointer = { pointerType: 'touch', bubbles: true };
  await entry(page, 1).dispatchEvent('pointerdown', pointer);
  await act(page, 1, 'Reply').waitFor();
  await isAccessibleAt(page, PHONE);
  await entry(page, 1).dispatchEvent('pointerup', pointer);
  await act(page, 1, 'More').tap();
  await act(page, 1, 'Thread').tap();
  const main = page.getByRole('main', { name: 'Thread' });
  await main.getByLabel('Reply in this thread').fill('Two');
  await main.getByRole('button', { name: 'Reply', exact: true }).last().tap();
  await main.locator('.entry[data-seq="2"]').waitFor();
  await isAccessibleAt(page, PHONE);
  await main.getByRole('button', { name: 'Close' }).tap();
  await entry(page, 2)
    .getByRole('link', { name: /Sarah One/ })
    .waitFor();
});
