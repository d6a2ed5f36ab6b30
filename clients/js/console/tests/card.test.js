// Cards in a DOM without a browser: outcomes, focus, drafts, and what a change does not disturb.
// The suites in tests/js/console show the same cards in a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORDER, PEOPLE, click, openPage, refuse, settle, tool, type } from './card_page.js';

const WHO = { input: { title: 'Who?' }, resultSchema: { type: 'string', title: 'Who' } };

test('a failed answer keeps the typed value, and a closed form shows its outcome', async (t) => {
  const page = openPage(t);
  await page.show(tool(WHO));
  const field = page.field('Who');
  const submit = async () => {
    field.focus();
    page.find('.answering').requestSubmit();
    await settle();
  };
  type(field, 'Sarah');
  const advice = ' Your answer is still here. Sending it again does not answer twice.';
  for (const [status, text] of [
    [0, `The server can’t be reached.${advice}`],
    [503, `The server answered 503.${advice}`],
    [403, 'The server answered 403.'],
  ]) {
    refuse(page, status);
    await submit();
    assert.equal(page.find('[role=alert]').textContent, text);
    assert.equal(page.find('.ask > .note').textContent, '');
    const state = [field.value, document.activeElement === field, field.matches(':disabled')];
    assert.deepEqual(state, ['Sarah', true, false]);
  }
  refuse(page, 409, { detail: 'someone else answered' });
  await submit();
  assert.equal(page.find('[role=alert]').textContent, 'someone else answered');
  assert.ok(field.matches(':disabled'));
  await page.show(tool({ ...WHO, status: 'completed', output: 'Husam', resolvedBy: 'husam' }));
  const outcome = page.find('.outcome');
  assert.equal(outcome.textContent, 'answered by Husam');
  assert.equal(page.find('.answered').textContent, 'Husam');
  assert.equal(page.find('.ask'), null);
  assert.equal(document.activeElement, outcome);
  assert.equal(outcome.getAttribute('aria-live'), 'off');
});

test('the focus moves to the outcome only from the form', async (t) => {
  const page = openPage(t);
  const closed = tool({ ...WHO, status: 'expired' });
  await page.show(tool(WHO));
  page.field('Who').focus();
  await page.show(closed);
  assert.equal(document.activeElement, page.find('.outcome'));
  page.close();
  await page.show(tool({ ...WHO }));
  document.activeElement.blur();
  await page.show(closed);
  assert.equal(document.activeElement, document.body);
  assert.equal(page.find('.outcome').getAttribute('aria-live'), null);
});

test('changes around a form do not disturb typing', async (t) => {
  const page = openPage(t);
  const part = { ...WHO, answerBy: ['sarah', 'husam'], expiresAt: '2026-05-01T12:09:50Z' };
  await page.show(tool(part));
  const [card, form, field] = [page.find('.tool'), page.find('.ask'), page.field('Who')];
  field.focus();
  type(field, 'one two');
  field.setSelectionRange(4, 7);
  const moved = [];
  const observer = new window.MutationObserver((records) => moved.push(...records));
  observer.observe(card, { childList: true });
  await page.show(tool({ ...part, input: { title: 'Whom?' } }));
  await page.change({ now: Date.parse('2026-05-01T12:09:00Z') });
  await page.change({ senderId: 'husam' });
  page.space.names.set('sarah', 'Sarah B');
  await page.change({ people: PEOPLE.map((person) => ({ ...person })) });
  const terms = page.find('.terms').textContent;
  assert.match(terms, /^for Sarah B or Husam to answer by .* \(in 50 s\)$/);
  assert.equal(page.find('.question').textContent, 'Whom?');
  assert.deepEqual([page.find('.tool'), page.find('.ask'), page.field('Who')], [card, form, field]);
  assert.deepEqual(
    [field.value, field.selectionStart, field.selectionEnd, document.activeElement === field],
    ['one two', 4, 7, true],
  );
  assert.deepEqual(observer.takeRecords().concat(moved), []);
});

test('a change that the card does not show does not render it', async (t) => {
  const page = openPage(t);
  let renders = 0;
  const part = (more) => ({
    ...tool(more),
    get input() {
      renders += 1;
      return { title: 'Who?' };
    },
  });
  const others = { people: PEOPLE.map((person) => ({ ...person })), now: 0 };
  for (const state of [{}, { expiresAt: '2026-05-08T12:00:00Z' }, { status: 'expired' }]) {
    await page.show(part(state));
    renders = 0;
    await page.change(state.expiresAt ? { ...others, now: page.now + 5000 } : others);
    assert.equal(renders, 0, JSON.stringify(state));
    await page.change({ senderId: 'husam' });
    assert.notEqual(renders, 0);
    await page.change({ senderId: 'sarah', now: page.now });
  }
});

test('a draft survives the removal of the card', async (t) => {
  const page = openPage(t);
  const part = tool({ input: { title: 'Order' }, resultSchema: ORDER });
  await page.show(part);
  type(page.field('Name'), 'Nora');
  await click(page.field('Large'));
  type(page.field('Street'), 'Quay 1');
  await click(page.field('Ribbon'));
  await click(page.button('Decline…'));
  page.close();
  await page.show(part);
  assert.equal(page.find('.declining').hidden, false);
  type(page.field('Why not? (optional)'), 'no time');
  page.close();
  await page.show(part);
  assert.deepEqual(
    ['Name', 'Street', 'Why not? (optional)'].map((name) => page.field(name).value),
    ['Nora', 'Quay 1', 'no time'],
  );
  const ticked = ['Large', 'Small', 'Ribbon'].map((name) => page.field(name).checked);
  assert.deepEqual(ticked, [true, false, true]);
  await click(page.button('Decline'));
  page.close();
  await page.show(part);
  assert.equal(page.field('Name').value, '', 'a sent answer leaves no draft');
});

test('a card replaces its streamed input in place', async (t) => {
  const page = openPage(t);
  const streamed = (raw) => ({ type: 'tool', name: 'ask', status: 'writing', raw });
  await page.show(streamed('{"title": "D'));
  const [card, details, text] = ['.tool', 'details', 'pre'].map(page.find);
  details.open = true;
  const selection = document.getSelection();
  selection.setBaseAndExtent(text.firstChild, 2, text.firstChild, 7);
  await page.show(streamed('{"title": "Deploy?"}'));
  assert.equal(text.textContent, '{"title": "Deploy?"}');
  assert.equal(selection.toString(), 'title');
  assert.equal(card.className, 'tool');
  assert.equal(page.find('summary').textContent, 'ask · writing ');
  await page.show(tool({ input: { title: 'Deploy?' } }));
  assert.deepEqual([page.find('.tool'), page.find('details')], [card, details]);
  assert.equal(card.className, 'tool asks');
  assert.ok(details.open);
  assert.deepEqual(page.texts('.flat-table tr'), ['titleDeploy?']);
  const order = [...card.children].map(({ className, tagName }) => className || tagName);
  assert.deepEqual(order, ['question', 'note terms', 'ask', 'DETAILS']);
});

test('a card shows its outcome in words, and its output as a table or as JSON', async (t) => {
  const page = openPage(t);
  const approved = { choice: 'Approve', comment: 'fine' };
  const states = [
    [
      { ui: 'buttons', output: approved, resolvedBy: 'sarah' },
      'Approve (“fine”) · answered by Sarah',
    ],
    [
      { ui: 'buttons', output: { choice: { label: 'Later' } }, resolvedBy: { kind: 'operator' } },
      'Later · answered by the operator',
    ],
    [{ output: { a: 1 }, resolvedBy: 'sarah' }, 'answered by Sarah'],
    [{ output: false, resolvedBy: 'gone' }, 'answered by Someone'],
    [
      { output: { declined: true, reason: 'risky' }, resolvedBy: 'husam' },
      'declined by Husam: risky',
    ],
    [{ output: { declined: true }, resolvedBy: 'husam' }, 'declined by Husam'],
    [{ status: 'expired', output: { error: 'expired' } }, 'expired: nobody answered in time'],
    [{ status: 'canceled' }, 'canceled: the run ended'],
    [{ status: 'failed', output: { error: 'no such space' } }, 'failed: no such space'],
    [{ status: 'unknown' }, 'the outcome is unknown'],
  ];
  for (const [part, text] of states) {
    await page.show(tool({ status: 'completed', ...part }));
    assert.deepEqual(page.texts('.outcome'), [text]);
    const { output } = part;
    const shown = page.find('details').lastElementChild;
    assert.equal(page.texts('.tool-label').length, output === undefined ? 1 : 2);
    if (output === undefined) continue;
    const isFlat = Object.values(output).every((value) => typeof value !== 'object');
    assert.equal(
      shown.textContent,
      output !== false && isFlat
        ? Object.entries(output).flat().join('')
        : JSON.stringify(output, null, 2),
    );
  }
  assert.equal(page.find('.ask'), null);
  await page.show(tool({ ui: null, status: 'completed', output: 'from 9\n to 17' }));
  assert.equal(page.find('summary').textContent, 'ask · completed from 9 to 17');
  assert.equal(page.find('.outcome'), null);
});

test('a card shows the answer under the labels of the form', async (t) => {
  const page = openPage(t);
  const properties = { name: { title: 'What would you like?' }, gift: { type: 'boolean' } };
  const output = { name: 'Tea', gift: true };
  await page.show(tool({ status: 'completed', resultSchema: { properties }, output }));
  assert.deepEqual(page.texts('.answered div'), ['What would you like?Tea', 'gift:yes']);
  const order = [...page.find('.tool').children].map((node) => node.className || node.tagName);
  assert.deepEqual(order, ['question', 'pairs answered', 'outcome', 'DETAILS']);
});

test('an unknown component is shown as a plain form', async (t) => {
  const page = openPage(t);
  await page.show(tool({ ui: 'seatMap', input: { title: 'Where?' } }));
  const text = 'This page does not know the component “seatMap”, so it shows a plain form.';
  assert.equal(page.find('.question + .note').textContent, text);
});

test('markup is shown as text', async (t) => {
  const page = openPage(t);
  const markup = '<img src=x><b>bold</b>';
  const properties = {
    [markup]: { type: 'string', title: markup, description: markup },
    e: { enum: [markup, 'b'] },
  };
  const part = {
    name: markup,
    input: { title: markup, [markup]: markup, options: [markup] },
    resultSchema: { type: 'object', properties },
  };
  const output = { choice: markup, comment: markup };
  const states = [
    part,
    { ...part, ui: 'buttons' },
    { ...part, ui: markup, status: 'completed', output, resultSchema: { title: markup } },
    { ...part, ui: 'buttons', status: 'completed', output },
  ];
  for (const state of states) {
    await page.show(tool(state));
    assert.equal(page.all('img, b').length, 0);
    assert.ok(page.root.textContent.includes(markup));
  }
});
