// Remote agents: their setup, and what the pages make of their runs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';

const { window } = new JSDOM('<main></main>', { url: 'http://localhost' });
globalThis.window = window;
globalThis.document = window.document;
globalThis.location = window.location;

const {
  adviceOf,
  endWords,
  Facts,
  Failure,
  factsOf,
  h,
  LimitFields,
  mayFork,
  newAgentBody,
  numbersOf,
  postsOf,
  RemoteWork,
  render,
  reportedText,
  RuntimeFields,
  runtimeWith,
  setupPatch,
  spansOf,
  TEMPLATES,
  workplaceText,
} = await importSource(`
  export { h, render } from 'preact';
  export { mayFork, postsOf } from './src/why/run_calls.ts';
  export { adviceOf } from './src/why/failures.ts';
  export { spansOf } from './src/why/spans.ts';
  export { endWords, factsOf, reportedText } from './src/why/words.ts';
  export { runtimeWith, workplaceText } from './src/studio/agents/setup/runtime.ts';
  export { RuntimeFields } from './src/studio/agents/setup/runtime_fields.tsx';
  export { setupPatch } from './src/studio/agents/setup/setup_body.ts';
  export { LimitFields } from './src/studio/agents/setup/setup_fields.tsx';
  export { newAgentBody, TEMPLATES } from './src/studio/agents/new_agent/templates.ts';
  export { Facts } from './src/studio/run/facts.tsx';
  export { Failure } from './src/why/failure.tsx';
  export { RemoteWork } from './src/studio/run/remote_work.tsx';
  export { numbersOf } from './src/studio/runs/words.ts';
`);

const RUNTIME = {
  type: 'webhook',
  url: 'https://agent.example:8443/smartspace',
  secret: '${secret.REMOTE_AGENT}',
  timeoutSeconds: 60,
};
const BUDGET = { tokensPerDay: null, costPerDay: null, runsPerMinute: 60 };
const at = (ms) => new Date(ms).toISOString();
const posted = (text, ms) => ({
  callId: text,
  name: 'send_message',
  input: { text },
  status: 'completed',
  startedAt: at(ms),
  finishedAt: at(ms),
});

/** A remote run that took two seconds. */
const remoteRun = (more = {}) => ({
  id: 'run_1',
  status: 'completed',
  endReason: 'done',
  remote: true,
  attempt: 1,
  chainDepth: 0,
  stepCount: 1,
  usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: 0 },
  error: null,
  createdAt: at(0),
  startedAt: at(0),
  finishedAt: at(2000),
  steps: [
    {
      index: 0,
      attempt: 1,
      prompt: { system: [], messages: [{ role: 'user', text: 'Omar: What is left?' }] },
      systemMessages: [],
      text: '',
      calls: [posted('Two steps.', 500), posted('And a third.', 900)],
      finishReason: 'stop',
      startedAt: at(0),
      finishedAt: at(2000),
    },
  ],
  ...more,
});

/** The text of a part of a page. */
function shown(component, props) {
  const place = document.createElement('main');
  render(h(component, props), place);
  return place;
}

test('a secret is typed and shown by its name', () => {
  const secretOf = (secret) => runtimeWith({ secret }).secret;
  assert.equal(secretOf('REMOTE_AGENT'), RUNTIME.secret);
  assert.equal(secretOf(RUNTIME.secret), RUNTIME.secret);
  assert.deepEqual(runtimeWith({ url: 'https://a.example' }), { url: 'https://a.example' });
  for (const wrong of ['whsec_AAAA', 'remote', '', '2A'])
    assert.match(runtimeWith({ secret: wrong }), /write only the name of a secret/, wrong);
});

test('the setup of a remote agent sends what was changed', () => {
  const config = { runtime: RUNTIME };
  const patch = (runtime) => setupPatch({ agent: { runtime } }, config);
  assert.deepEqual(patch({ secret: 'OTHER', timeoutSeconds: null }), {
    agent: { runtime: { secret: '${secret.OTHER}', timeoutSeconds: null } },
  });
  assert.equal(typeof patch({ secret: 'whsec_AAAA' }), 'string');
  assert.deepEqual(setupPatch({ agent: { paused: true } }, config), { agent: { paused: true } });
  // Somebody else has made it remote while the form showed a model.
  assert.deepEqual(setupPatch({ agent: { model: { name: 'm' } } }, config), {
    agent: { model: { name: 'm' } },
  });
});

test('the fields of a remote agent are its address, its secret and its time limit', () => {
  const fields = (props) =>
    [...shown(RuntimeFields, props).querySelectorAll('input')].map(({ name, value }) => [
      name.split('/').at(-1),
      value,
    ]);
  assert.deepEqual(fields({ runtime: RUNTIME }), [
    ['url', RUNTIME.url],
    ['secret', 'REMOTE_AGENT'],
    ['timeoutSeconds', '60'],
  ]);
  assert.deepEqual(fields({}), [
    ['url', ''],
    ['secret', 'REMOTE_AGENT'],
    ['timeoutSeconds', ''],
  ]);
  const limits = (config) =>
    [...shown(LimitFields, { config }).querySelectorAll('label')].map((each) => each.textContent);
  const rest = ['Runs a minute', 'Chain depth'];
  assert.deepEqual(limits({ budget: BUDGET, runtime: RUNTIME }), rest);
  assert.deepEqual(limits({ budget: BUDGET }), ['Tokens a day', 'Dollars a day', ...rest]);
});

test('the template makes an agent without a model', () => {
  const template = TEMPLATES.find(({ isRemote }) => isRemote);
  const { type, ...runtime } = RUNTIME;
  const body = (secret) => ({
    name: 'Ada',
    agent: { description: 'Helps.', runtime: { ...runtime, secret } },
  });
  assert.deepEqual(newAgentBody(template, body('REMOTE_AGENT'), null), {
    type: 'agent',
    name: 'Ada',
    agent: { description: 'Helps.', runtime: RUNTIME },
  });
  assert.equal(typeof newAgentBody(template, body('whsec_AAAA'), null), 'string');
});

test('the list says where an agent works', () => {
  const model = { provider: 'openai', name: 'gpt-5-mini' };
  assert.equal(workplaceText({ model }), 'openai/gpt-5-mini');
  assert.equal(workplaceText({ runtime: RUNTIME }), 'remote: agent.example:8443');
  assert.equal(workplaceText({}), 'unknown');
});

test('a remote run has posts and one span of work, and cannot be forked', () => {
  const run = remoteRun();
  assert.deepEqual(
    postsOf(run).map(({ text, at: time }) => [text, time]),
    [
      ['Two steps.', at(500)],
      ['And a third.', at(900)],
    ],
  );
  assert.deepEqual(
    spansOf(run).map(({ name }) => name),
    ['at work elsewhere', 'send_message', 'send_message'],
  );
  const [span] = spansOf({ remote: true, steps: [{ ...run.steps[0], finishReason: 'error' }] });
  assert.equal(span.problem, 'failed');
  assert.ok(!mayFork(run));
  assert.ok(mayFork({ ...run, remote: undefined }));
  assert.ok(!mayFork({ ...run, remote: undefined, forkOf: { runId: 'run_0', step: 0 } }));
  assert.ok(!mayFork({ ...run, remote: undefined, steps: [] }));
  assert.equal(endWords(run), 'it reported that it was done');
  assert.equal(endWords({ ...run, remote: undefined }), 'it had nothing more to do');
});

test('the reported usage of an agent is separate from the measured usage', () => {
  const run = remoteRun({ reportedUsage: { inputTokens: 1200, outputTokens: 80, cost: 0.02 } });
  assert.equal(reportedText(run), '1,200 in · 80 out · $0.02');
  assert.equal(reportedText({ reportedUsage: { inputTokens: 5 } }), '5 in · 0 out');
  assert.equal(reportedText({}), null);
  assert.deepEqual(factsOf(run, 0), [
    '2.0 s',
    'works elsewhere',
    'reported by the agent: 1,200 in · 80 out · $0.02',
  ]);
  const { tokens, cost, title } = numbersOf(run);
  assert.deepEqual([tokens, cost], ['1,280', '$0.02']);
  assert.match(title, /^Reported by the agent/);
  const silent = numbersOf(remoteRun());
  assert.deepEqual([silent.tokens, silent.cost], ['–', '–']);
  const usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 2, cost: null };
  assert.deepEqual(numbersOf({ usage }), {
    tokens: '12',
    cost: 'price unknown',
    title: '10 read, 4 of them cached; 2 written',
  });

  const named = (given) =>
    Object.fromEntries(
      [...shown(Facts, { run: given }).querySelectorAll('dl > div')].map((fact) => [
        fact.querySelector('dt').textContent,
        fact.querySelector('dd').textContent,
      ]),
    );
  const facts = named(run);
  assert.equal(facts['Usage reported by the agent'], '1,200 in · 80 out · $0.02');
  assert.ok(!('Cost' in facts || 'Tokens' in facts));
  assert.equal(named(remoteRun())['Usage reported by the agent'], 'none');
  assert.ok(!('Usage reported by the agent' in named({ ...run, remote: undefined })));
});

test('the page of a remote run shows what it posted and what it was sent', () => {
  const parts = (run) =>
    [...shown(RemoteWork, { run }).querySelectorAll('section')].map((part) => [
      part.querySelector('h2').textContent,
      [...part.querySelectorAll('.step-text, .prompt, .part > .note')].map(
        (each) => each.textContent,
      ),
    ]);
  const [posts, sent] = parts(remoteRun());
  assert.deepEqual(posts, ['What it posted', ['Two steps.', 'And a third.']]);
  assert.deepEqual(sent, ['What it was sent', ['Omar: What is left?']]);
  const [step] = remoteRun().steps;
  const going = remoteRun({ finishedAt: null, steps: [{ ...step, calls: [] }] });
  assert.deepEqual(parts(going)[0], ['What it posted', ['Nothing yet.']]);
});

test('each failure says what to do about it', () => {
  const advice = (code, remote) => adviceOf({ error: { code, message: '' }, remote });
  for (const code of ['timeout', 'refused', 'remote', 'internal', 'attempts', 'budget'])
    assert.match(advice(code, true), /\.$/, code);
  assert.match(advice('timeout', true), /time limit/);
  assert.match(advice('refused', true), /Check the address/);
  for (const code of ['not_configured', 'overloaded']) {
    assert.match(advice(code), /provider/);
    assert.doesNotMatch(advice(code, true), /provider|model/);
  }
  assert.equal(advice('of_a_newer_server'), null);
  assert.equal(adviceOf({ error: null }), null);
  const error = { code: 'timeout', message: 'the agent did not complete the run in 60 seconds' };
  const run = remoteRun({ status: 'failed', endReason: null, error });
  const text = shown(Failure, { run, isOperator: true });
  assert.match(text.textContent, /in 60 seconds \(timeout\).*raise the time limit/);
});
