// Calls that people decide: the card, who may decide, the decisions, and the later calls that an
// approval covers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SmartspaceError } from '@smartspace/client';
import {
  ApprovalCard,
  celOf,
  click,
  editorOf,
  exactScope,
  fieldScopes,
  h,
  openPage,
  render,
  settle,
  tool,
  type,
} from './card_page.js';

const PEOPLE = [
  { id: 'sarah', name: 'Sarah', type: 'human', role: 'owner', guest: false },
  { id: 'husam', name: 'Husam', type: 'human', role: 'member', guest: false },
  { id: 'kim', name: 'Kim', type: 'human', role: 'member', guest: true },
];
const INPUT = { to: 'Max', amount: 900 };
const SCHEMA = {
  type: 'object',
  properties: { to: { type: 'string' }, amount: { type: 'integer', maximum: 1000 } },
  required: ['to', 'amount'],
};
const made = (by, action = 'approve', more = {}) => ({
  by,
  name: PEOPLE.find(({ id }) => id === by).name,
  action,
  at: '2026-05-01T11:00:00Z',
  ...more,
});
const call = (approval = {}, more = {}) =>
  tool({
    name: 'transfer',
    ui: 'approval',
    input: INPUT,
    resultSchema: { type: 'object', properties: { action: {}, input: SCHEMA } },
    expiresAt: '2026-05-01T14:00:00Z',
    approval: { by: 'members', needed: 1, state: 'open', decisions: [], ...approval },
    ...more,
  });

// A page with one card of a person, unless `props` say otherwise.
function openCard(t) {
  const page = openPage(t);
  const sent = [];
  const space = {
    ...page.space,
    decide: async (...given) => {
      sent.push(given);
      await space.respond();
      return { given: 1, needed: 2 };
    },
    respond: async () => {},
  };
  const shown = { people: PEOPLE, isOperator: false, meId: 'husam', host: null };
  t.after(() => render(null, page.root));
  return {
    ...page,
    sent,
    refuse: (status, problem) =>
      (space.respond = async () => {
        throw new SmartspaceError(status, problem);
      }),
    async show(part, props = {}) {
      const message = { id: 'm1', seq: 1, runId: 'r', parts: [part] };
      const who = { ...shown, ...props, space, nameOf: space.nameOf, now: page.now };
      render(h(ApprovalCard, { part, message, ...who }), page.root);
      await settle();
    },
    summary: (text) => page.all('summary').find((node) => node.textContent === text),
  };
}

// A component follows the chosen person from the frame after its first one.
async function waitUntil(isTrue) {
  for (let tries = 0; !isTrue() && tries < 100; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

test('a waiting call shows its input, its host, who decides, and the time left', async (t) => {
  const page = openCard(t);
  const input = { to: 'a\u202eb' };
  await page.show(call({ by: 'owners' }, { input }), { meId: 'sarah', host: 'bank.example' });
  assert.equal(page.find('.question').textContent, 'transfer calls bank.example');
  assert.equal(page.find('.approval-input td').textContent, 'aU+202Eb');
  assert.match(
    page.find('.terms').textContent,
    /^Waits for owners of this space, until .* \(in 2 h\)$/,
  );
  assert.deepEqual(page.texts('.ask > .ask-row button'), [
    'Approve once',
    'Edit…',
    'Respond…',
    'Decline…',
    'End run',
  ]);
});

test('people who may not decide see who may, and no buttons', async (t) => {
  const page = openCard(t);
  const cases = [
    [{ by: 'owners' }, 'husam', 'Only owners of this space may decide this.'],
    [{ by: ['sarah'] }, 'husam', 'Only Sarah may decide this.'],
    [{ by: 'members' }, 'kim', 'Only members of this space may decide this.'],
    [{ by: ['kim'] }, 'kim', 'Only Someone may decide this.'],
  ];
  for (const [approval, meId, text] of cases) {
    await page.show(call(approval), { meId });
    assert.deepEqual([page.texts('.blocked'), page.all('button').length], [[text], 0]);
  }
});

test('each button sends its decision', async (t) => {
  const page = openCard(t);
  const part = call();
  const steps = [
    [async () => click(page.button('Approve once')), { action: 'approve' }],
    [async () => click(page.button('End run')), { action: 'end' }],
    [
      async () => {
        await click(page.button('Respond…'));
        await click(page.button('Respond'));
        assert.ok(page.root.textContent.includes('Write the result for the agent.'));
        type(page.find('.panel textarea'), 'Paid by hand');
        await click(page.button('Respond'));
      },
      { action: 'respond', text: 'Paid by hand' },
    ],
    [
      async () => {
        await click(page.button('Decline…'));
        await click(page.button('Decline'));
      },
      { action: 'decline' },
    ],
    [
      async () => {
        await click(page.button('Edit…'));
        assert.deepEqual([page.field('to').value, page.field('amount').value], ['Max', '900']);
        type(page.field('amount'), '600');
        await click(page.button('Approve with this input'));
      },
      { action: 'edit', input: { to: 'Max', amount: 600 } },
    ],
  ];
  for (const [act, decision] of steps) {
    render(null, page.root);
    await page.show(part);
    await act();
    assert.deepEqual(page.sent.pop(), ['c1', decision, {}]);
  }
});

test('the server’s errors of an edit stand at its fields', async (t) => {
  const page = openCard(t);
  await page.show(call());
  await click(page.button('Edit…'));
  const errors = [{ pointer: '/input/amount', detail: 'at most 1000' }];
  page.refuse(422, { title: 'invalid', status: 422, errors });
  await click(page.button('Approve with this input'));
  await settle();
  const field = page.field('amount');
  assert.equal(field.getAttribute('aria-invalid'), 'true');
  assert.ok(field.closest('.field').textContent.includes('at most 1000'));
});

test('an input that the fields would change is edited as JSON', () => {
  const card = (schema) => ({ properties: { input: schema } });
  const kindOf = (schema, input) => editorOf(card(schema), input).field.kind;
  assert.equal(kindOf(SCHEMA, INPUT), 'group');
  assert.equal(kindOf(SCHEMA, { ...INPUT, more: 1 }), 'json');
  assert.equal(kindOf({}, INPUT), 'json');
});

test('the operator decides in the name of a person whom it chooses', async (t) => {
  const page = openCard(t);
  const asOperator = { isOperator: true, meId: null };
  const menu = () => page.find('.decide-as select');
  const choose = (id) => {
    menu().value = id;
    menu().dispatchEvent(new window.Event('change', { bubbles: true }));
  };
  await page.show(call(), asOperator);
  // At first it is nobody, and nothing is sent.
  assert.deepEqual(page.texts('.decide-as option'), ['Choose a person', 'Sarah', 'Husam']);
  assert.equal(menu().value, '');
  await click(page.button('Approve once'));
  await settle();
  assert.deepEqual(page.texts('.ask [role="alert"]'), [
    'Choose the person in whose name you decide.',
  ]);
  assert.equal(document.activeElement, menu());
  assert.deepEqual(page.sent, []);
  choose('husam');
  await waitUntil(() => page.button('Approve once as Husam'));
  await click(page.button('Approve once as Husam'));
  assert.deepEqual(page.sent.pop(), ['c1', { action: 'approve' }, { senderId: 'husam' }]);
  // Husam is still chosen, and may not decide this one.
  render(null, page.root);
  await page.show(call({ by: 'owners' }), asOperator);
  assert.deepEqual(page.texts('.decide-as option'), ['Choose a person', 'Sarah']);
  assert.equal(menu().value, '');
  choose('sarah');
  await waitUntil(() => page.button('Approve once as Sarah'));
  await click(page.button('Approve once as Sarah'));
  assert.deepEqual(page.sent.pop()[2], { senderId: 'sarah' });
  await page.show(call({ needed: 2, decisions: [made('sarah')] }), asOperator);
  assert.ok(page.root.textContent.includes('Sarah has approved it.'));
  choose('');
});

test('with a quorum the card counts approvals, and remembers nothing', async (t) => {
  const page = openCard(t);
  const decisions = [made('sarah', 'approve', { byOperator: true })];
  await page.show(call({ needed: 2, decisions }));
  assert.equal(page.find('.given').textContent, '1 of 2 approvals: Sarah, by the operator');
  assert.equal(page.find('.always'), null);
  await page.show(call({ needed: 2, decisions }), { meId: 'sarah' });
  assert.equal(page.button('Approve once'), undefined);
  assert.ok(page.root.textContent.includes('You have approved it.'));
});

test('a decided call says by whom and how', async (t) => {
  const page = openCard(t);
  const cases = [
    [
      { state: 'approved', decisions: [made('sarah'), made('husam')] },
      { status: 'completed' },
      'approved by Sarah and Husam',
    ],
    [
      { state: 'approved', decisions: [made('husam', 'edit')] },
      { status: 'completed' },
      'approved by Husam, with another input',
    ],
    [
      { state: 'declined', decisions: [made('sarah', 'decline')] },
      { status: 'completed', output: { declined: true, reason: 'too much' } },
      'declined by Sarah: too much',
    ],
    [
      { state: 'declined', decisions: [made('sarah', 'respond')] },
      { status: 'completed', output: { response: 'Paid' } },
      'answered by Sarah: Paid',
    ],
    [
      { state: 'declined', decisions: [made('sarah', 'end')] },
      { status: 'completed' },
      'Sarah ended the run',
    ],
    [{ state: 'expired' }, { status: 'expired' }, 'expired: nobody decided in time'],
    [{}, { status: 'canceled' }, 'canceled: the run ended'],
  ];
  for (const [approval, more, text] of cases) {
    await page.show(call(approval, more));
    assert.deepEqual([page.texts('.outcome'), page.all('.ask').length], [[text], 0]);
  }
});

test('an approval may cover the exact input, any input, or one field', async (t) => {
  const page = openCard(t);
  const cases = [
    ['Always for this exact input', 'input == {"to": "Max", "amount": 900}'],
    ['Always for any input', undefined],
    ['Always for this field', 'input["to"] == "Max"'],
  ];
  for (const [button, when] of cases) {
    render(null, page.root);
    await page.show(call());
    await click(page.button(button));
    const remember = { in: 'space', ...(when && { when }) };
    assert.deepEqual(page.sent.pop()[1], { action: 'approve', remember });
  }
});

test('literals of CEL mean the same value, or are not offered', () => {
  const cases = [
    ['a"b\\c\n\u202e', '"a\\"b\\\\c\\u000a\\u202e"'],
    ['\u{e0041}é', '"\\U000e0041é"'],
    [
      { 'a"] == 1 || true': [1, -2.5, null, false] },
      '{"a\\"] == 1 || true": [1, -2.5, null, false]}',
    ],
    [9007199254740993, null],
    [{ deep: [2 ** 60] }, null],
  ];
  for (const [value, text] of cases) assert.equal(celOf(value), text);
  assert.equal(exactScope({ text: 'x'.repeat(2048) }), null);
  assert.deepEqual(
    fieldScopes({ 'a"b': 1, list: [1], big: 2 ** 60 }).map(({ when }) => when),
    ['input["a\\"b"] == 1'],
  );
});
