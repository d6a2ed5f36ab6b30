// What waits for the caller, and a call that it decides.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fakeServer, SPACE_ID } from './fake_server.js';
import { clientOf, flavors, pageOf, settle } from './page.js';

const ITEM = {
  id: 'msg_9',
  kind: 'approval',
  spaceId: SPACE_ID,
  spaceName: 'Kitchen',
  seq: 9,
  runId: 'run_1',
  callId: 'cal_1',
  agent: { id: 'ent_guide', name: 'Guide' },
  tool: 'transfer',
  question: null,
  input: { amount: 900 },
  expiresAt: '2026-01-06T10:00:00Z',
  createdAt: '2026-01-05T10:00:00Z',
};
const FIRST = { rev: 1, parts: [], sender: ITEM.agent, createdAt: ITEM.createdAt };
const APPROVAL = { by: 'members', needed: 2, state: 'open', decisions: [] };

for (const flavor of flavors) {
  const { name, React, hooks } = flavor;
  const { createElement: h } = React;

  async function open(waiting) {
    const server = fakeServer({ waiting });
    const page = pageOf(flavor);
    const seen = {};
    function Call() {
      seen.inbox = hooks.useInbox();
      seen.approval = hooks.useApproval('cal_1');
      return null;
    }
    const client = clientOf(flavor, server);
    await page.render(h(hooks.SmartspaceProvider, { client }, h(Call)));
    return { server, page, seen };
  }

  test(`${name}: useInbox has what waits, and useApproval finds the call in it`, async () => {
    const { server, page, seen } = await open([ITEM]);
    const { items, hasMore, isLoading, error } = seen.inbox;
    assert.deepEqual([items, hasMore, isLoading, error], [[ITEM], false, false, null]);
    assert.deepEqual([seen.approval.item, seen.approval.card], [ITEM, null]);
    const { more } = seen.inbox;
    const { decide } = seen.approval;
    await settle(flavor, () => server.post());
    assert.equal(seen.inbox.more, more);
    assert.equal(seen.approval.decide, decide);
    await page.unmount();
  });

  test(`${name}: useApproval decides the call`, async () => {
    const { server, page, seen } = await open([ITEM]);
    let count;
    await settle(flavor, () => {
      seen.approval.decide({ action: 'approve' }).then((found) => (count = found));
    });
    assert.deepEqual(count, { given: 1, needed: 2 });
    assert.ok(server.calls.includes('POST /v1/runs/run_1/toolCalls/cal_1/decision'));
    await page.unmount();
  });

  test(`${name}: useApproval without the call has nothing, and decides nothing`, async () => {
    const { page, seen } = await open([]);
    assert.deepEqual([seen.approval.item, seen.approval.card], [null, null]);
    await assert.rejects(seen.approval.decide({ action: 'approve' }), /cal_1 does not wait/);
    await page.unmount();
  });

  test(`${name}: useApproval shows the decisions of the card`, async () => {
    const { server, page, seen } = await open([ITEM]);
    const part = {
      type: 'tool',
      callId: 'cal_1',
      name: 'transfer',
      input: { amount: 900 },
      output: null,
      status: 'pending',
      ui: 'approval',
      approval: APPROVAL,
    };
    const rest = { sender: ITEM.agent, streamId: null, dispatch: [], createdAt: ITEM.createdAt };
    const message = { id: 'msg_4', seq: 4, rev: 1, runId: 'run_1', parts: [part], ...rest };
    const frame = { type: 'message.created', spaceId: SPACE_ID, at: '', message };
    await settle(flavor, () => server.raw(frame));
    assert.deepEqual(seen.approval.card?.approval, APPROVAL);
    await page.unmount();
  });

  test(`${name}: useMentions has the mentions, and useThread a thread`, async () => {
    const message = { ...FIRST, id: 'msg_1', seq: 1 };
    const mention = { spaceId: SPACE_ID, spaceName: 'Kitchen', why: 'mention', message };
    const server = fakeServer({ mentioned: [mention] });
    const page = pageOf(flavor);
    const seen = {};
    function Lists() {
      seen.mentions = hooks.useMentions();
      seen.thread = hooks.useThread(1, SPACE_ID);
      seen.pins = hooks.usePins(SPACE_ID);
      return null;
    }
    const client = clientOf(flavor, server);
    await page.render(h(hooks.SmartspaceProvider, { client }, h(Lists)));
    const { items, isLoading, error } = seen.mentions;
    assert.deepEqual([items, isLoading, error], [[mention], false, null]);
    assert.deepEqual(
      seen.thread.items.map((item) => item.message.seq),
      [1],
    );
    assert.deepEqual(seen.pins, { items: [], isLoading: false, error: null });
    const { more } = seen.mentions;
    await settle(flavor, () => server.post());
    assert.equal(seen.mentions.more, more);
    await page.unmount();
  });
}
