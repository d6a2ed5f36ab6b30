// An invite is opened: by a person, by a guest, by the operator, and after it has ended.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiClient, tokenOf } from '../api_client.js';
import { isAccessible } from './accessible.js';
import { openTab, send, storedEntry, waitUntilLive } from './console_page.js';
import { startProduct } from '../product.js';
import { api, product, sarah } from './suite.js';

let open; // A product that lets guests in.
let openApi;

before(async () => {
  open = await startProduct('--invites', 'guests');
  openApi = new ApiClient(open);
});
after(() => open?.stop());

const hashOf = ({ token }) => `#invite=${token}`;

/** Nothing on the page, in its address or its history holds the token. */
async function assertHidden(page, { token }) {
  assert.ok(!page.url().includes('invite'), page.url());
  const markup = await page.evaluate(() => document.documentElement.outerHTML);
  assert.ok(!markup.includes(token), 'the page contains the token');
}

test('a guest joins with a name, writes, and stays signed in over a reload', async (t) => {
  const space = await openApi.createSpace('Garden', []);
  const invite = await openApi.createInvite(space);
  const page = await openTab(t);
  await page.goto(`${open.base}/${hashOf(invite)}`);
  await page.getByRole('heading', { name: 'Join as a guest' }).waitFor();
  await assertHidden(page, invite);
  await page.reload();
  await page.getByRole('textbox', { name: 'Your name' }).fill('Noor');
  await page.getByRole('button', { name: 'Join as a guest' }).click();
  await page.getByRole('heading', { name: 'Garden' }).waitFor();
  await waitUntilLive(page);
  await page.getByText('Signed in as Noor').waitFor();
  await send(page, 'May I bring tulips?');
  await storedEntry(page, 'May I bring tulips?').waitFor();
  await page.reload();
  await waitUntilLive(page);
  await page.getByText('Signed in as Noor').waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.getItem('smartspace.invite')), null);

  // A guest reads who is here, and nothing that it may not read.
  await page.getByRole('link', { name: 'Members', exact: true }).click();
  await page.getByRole('heading', { name: 'Members of Garden', level: 1 }).waitFor();
  await page.getByRole('table', { name: 'Members' }).getByText('Noor (guest)').waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Allowances' }).count(), 0);
  await page.getByRole('link', { name: 'Open the space' }).click();

  // The invite is used up.
  const questions = [];
  page.once('dialog', (dialog) => {
    questions.push(dialog.message());
    return dialog.dismiss();
  });
  await page.getByRole('button', { name: 'Sign out' }).click();
  assert.match(questions[0], /^Sign out\? You can’t come back as this guest\./);
  await page.getByText('Signed in as Noor').waitFor();

  // A guest of one space can join another one as another guest only.
  const other = await openApi.createSpace('Orchard', []);
  await page.goto(`${open.base}/${hashOf(await openApi.createInvite(other))}`);
  await page.getByText('You are signed in as Noor').waitFor();
});

test('a guest of another space sees the reason, and joins as another guest', async (t) => {
  const [one, two] = [await openApi.createSpace('One', []), await openApi.createSpace('Two', [])];
  const page = await openTab(t, { expected: [/403/] });
  await page.goto(`${open.base}/${hashOf(await openApi.createInvite(one))}`);
  await page.getByRole('textbox', { name: 'Your name' }).fill('Gus');
  await page.getByRole('button', { name: 'Join as a guest' }).click();
  await page.getByRole('heading', { name: 'One' }).waitFor();
  await page.goto(`${open.base}/${hashOf(await openApi.createInvite(two))}`);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'in one space only' }).waitFor();
  await page.getByRole('button', { name: 'Sign in as somebody else' }).click();
  await page.getByRole('textbox', { name: 'Your name' }).fill('Gus again');
  await page.getByRole('button', { name: 'Join as a guest' }).click();
  await page.getByRole('heading', { name: 'Two' }).waitFor();
});

test('the page of an invite says where it leads, and who reads along', async (t) => {
  const sara = await openApi.createPerson('Sara');
  const ana = await openApi.createAgent('Ana', []);
  const ben = await openApi.createAgent('Ben', []);
  const space = await openApi.createSpace('Orchestra', [sara, ana, ben]);
  await openApi.setRole(space, sara, 'owner');
  const invite = await openApi.createInviteAs(sara, space);
  const page = await openTab(t, { expected: [/404/] });
  await page.goto(`${open.base}/${hashOf(invite)}`);
  await page.getByText('Sara has invited you to Orchestra.').waitFor();
  // The agents come in the order of their ids, which may be of the same millisecond.
  await page
    .getByText(/^One person is there\. The agents (Ana and Ben|Ben and Ana) read along\.$/)
    .waitFor();
  await assertHidden(page, invite);
  await isAccessible(page);

  // Without a preview the page says less, and the reader can try all the same.
  await openApi.revoke(space, invite);
  await page.reload();
  await page.getByText('Somebody has invited you to a space.').waitFor();
  await page.getByRole('textbox', { name: 'Your name' }).waitFor();
});

test('an invite that is used up or revoked says so', async (t) => {
  const space = await openApi.createSpace('Small', []);
  const invite = await openApi.createInvite(space);
  await openApi.acceptAsGuest(invite, 'First');
  const page = await openTab(t, { expected: [/409/, /404/] });
  await page.goto(`${open.base}/${hashOf(invite)}`);
  const name = page.getByRole('textbox', { name: 'Your name' });
  await name.fill('Second');
  await name.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'used up' }).waitFor();
  assert.equal(await name.inputValue(), 'Second');
  await openApi.revoke(space, invite);
  await page.getByRole('button', { name: 'Join as a guest' }).click();
  await page.getByRole('alert').filter({ hasText: 'has ended' }).waitFor();
});

test('a person is asked and joins', async (t) => {
  const space = await api.createSpace('Choir', []);
  const invite = await api.createInvite(space);
  const page = await openTab(t);
  await page.goto(`${product.base}/#token=${tokenOf(sarah, product.jwtSecret)}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/${hashOf(invite)}`);
  await page.getByText('You are signed in as Sarah').waitFor();
  await assertHidden(page, invite);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByRole('heading', { name: 'Choir' }).waitFor();
  await waitUntilLive(page);
  assert.equal((await api.space(space)).members[0].id, sarah.id);
});

test('without guests, a person signs in first and then joins', async (t) => {
  const space = await api.createSpace('Members only', []);
  const page = await openTab(t, { expected: [/401/] });
  await page.goto(`${product.base}/${hashOf(await api.createInvite(space))}`);
  await page.getByRole('textbox', { name: 'Your name' }).fill('Noor');
  await page.getByRole('button', { name: 'Join as a guest' }).click();
  await page.getByRole('alert').filter({ hasText: 'Guests can’t join here' }).waitFor();
  await page.getByRole('button', { name: 'I have a token' }).click();
  await page.getByLabel('Key or token').fill(tokenOf(sarah, product.jwtSecret));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByRole('heading', { name: 'Members only' }).waitFor();
});

test('the operator needs no invite, and a person can decline one', async (t) => {
  const space = await api.createSpace('Not needed', []);
  const page = await openTab(t);
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await waitUntilLive(page);
  await page.goto(`${product.base}/${hashOf(await api.createInvite(space))}`);
  await page.getByText('needs no invite').waitFor();
  await page.getByRole('button', { name: 'Go to the spaces' }).click();
  await waitUntilLive(page);
  await page.reload();
  await waitUntilLive(page);
  assert.equal(await page.getByText('needs no invite').count(), 0);
  assert.deepEqual((await api.space(space)).members, []);
});
