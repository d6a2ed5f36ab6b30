// The revisions of an agent: they are loaded once, and again after a restore or when asked to.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fakeServer } from './fake_server.js';
import { clientOf, flavors, pageOf, settle } from './page.js';

for (const flavor of flavors) {
  const { name, React, hooks } = flavor;
  const { createElement: h } = React;

  test(`${name}: revisions are loaded once, and again after a restore`, async () => {
    const server = fakeServer();
    const page = pageOf(flavor);
    const client = clientOf(flavor, server);
    let seen;
    const states = [];
    function Revisions({ agentId }) {
      seen = hooks.useRevisions(agentId);
      const { revisions, isLoading, error } = seen;
      const state = [revisions.map(({ revision }) => revision).join(), isLoading, error?.status];
      if (JSON.stringify(states.at(-1)) !== JSON.stringify(state)) states.push(state);
      return null;
    }
    const show = (agentId) =>
      page.render(h(hooks.SmartspaceProvider, { client }, h(Revisions, { agentId })));
    await show('ent_guide');
    await show('ent_guide');
    assert.deepEqual(states.splice(0), [
      ['', true, undefined],
      ['1', false, undefined],
    ]);

    let restored;
    await settle(flavor, () => seen.restore(1).then((agent) => (restored = agent)));
    assert.equal(restored.revision, 2);
    assert.deepEqual(states.splice(0), [
      ['1', true, undefined],
      ['2,1', false, undefined],
    ]);

    await settle(flavor, () => seen.reload());
    assert.deepEqual(states.splice(0), [
      ['2,1', true, undefined],
      ['2,1', false, undefined],
    ]);

    // A revision that cannot be restored changes nothing.
    let refused;
    await settle(flavor, () => seen.restore(9).catch((error) => (refused = error.status)));
    assert.equal(refused, 404);
    assert.deepEqual(states, []);
    assert.deepEqual(server.calls, [
      'GET /v1/agents/ent_guide/revisions',
      'POST /v1/agents/ent_guide/revisions/1/restore',
      'GET /v1/agents/ent_guide/revisions',
      'GET /v1/agents/ent_guide/revisions',
      'POST /v1/agents/ent_guide/revisions/9/restore',
    ]);
    await page.unmount();
  });
}
