// The page of a run: its steps, what one can do with it, and its forks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRule, callRule, formTool } from '../api_client.js';
import { openSpace, openTab, signInAs, waitUntilFocused } from './console_page.js';
import { api, husam, product, sarah } from './suite.js';

const part = (page, name) => page.getByRole('main').getByRole('region', { name, exact: true });
const step = (page, number, last) => part(page, `Step ${number} of ${last}`);
const fact = (page, name) =>
  page
    .getByLabel('About this run')
    .locator('div')
    .filter({ has: page.getByText(name, { exact: true }) });
const status = (page, words) => page.getByRole('main').getByText(words, { exact: true }).first();

/** Opens the page of the only run of a space in which an agent with these rules is asked. */
async function opened(t, name, rules, { tools = [], expected = [] } = {}) {
  const agent = await api.createAgent('Ana', rules, 0, tools);
  const space = await api.createSpace(name, [husam, agent], { maxChainDepth: 1 });
  await api.postMessage(space, husam, 'What color is it?');
  const page = await openTab(t, { expected });
  await openSpace(page, name);
  await page.getByRole('button', { name: /^Ana (spoke|waiting|failed)/ }).click();
  await page.getByRole('link', { name: 'Open run' }).click();
  await page.getByRole('heading', { level: 1, name: 'Run of Ana' }).waitFor();
  return { page, space, agent };
}

const speaks = {
  when: { sender: 'human' },
  steps: [
    { text: 'I look it up.', calls: [{ tool: 'get_memories', input: {} }] },
    { text: 'I know it.', calls: [{ tool: 'send_message', input: { text: 'It is blue.' } }] },
  ],
};

test('a run is shown step by step: what the model read, wrote and called', async (t) => {
  const { page, space, agent } = await opened(t, 'Steps', [speaks]);
  await status(page, 'completed').waitFor();
  await fact(page, 'Ended because').getByText('it had nothing more to do').waitFor();
  await fact(page, 'Attempt').getByText('1').waitFor();
  await part(page, 'What woke it').getByText('What color is it?').waitFor();

  const one = step(page, 1, 3);
  await part(page, 'What came of it').getByText('It is blue.').waitFor();
  const posted = part(page, 'What came of it').getByRole('link', { name: '#2 in Steps' });
  assert.equal(await posted.getAttribute('href'), `#/s/${space.id}/m/2`);
  // The prompt is folded by its parts.
  assert.equal(await one.getByText('INSTRUCTIONS:').isVisible(), false);
  await one.locator('summary').filter({ hasText: 'Instructions' }).click();
  await one.getByText('INSTRUCTIONS:').waitFor();
  await one.getByRole('heading', { name: 'System', exact: true }).waitFor();
  await one.getByRole('heading', { name: 'User', exact: true }).waitFor();
  await one.getByText('I look it up.').waitFor();
  await part(page, 'Tools offered').getByText('skip_response').waitFor();
  await one.getByRole('article', { name: 'get_memories' }).getByText('completed').waitFor();

  // A bar selects its step.
  await part(page, 'What it did').getByRole('button', { name: 'model · step 2' }).click();
  await page.waitForURL(/\?step=1$/);
  const two = step(page, 2, 3);
  await two.getByRole('heading', { name: 'Results of tools' }).waitFor();
  await two.getByRole('article').getByRole('row', { name: 'text It is blue.' }).waitFor();
  assert.equal(await two.getByText('INSTRUCTIONS:').isVisible(), false);
  await two.getByText(/^As before: /).click();
  await two.locator('summary').filter({ hasText: 'Instructions' }).click();
  await two.getByText('INSTRUCTIONS:').waitFor();

  await two.getByRole('button', { name: 'Next step' }).click();
  await step(page, 3, 3).waitFor();
  await page.keyboard.press('ArrowLeft');
  await two.waitFor();
  await page.reload();
  await two.waitFor();

  const links = page.getByRole('main').getByRole('link');
  assert.equal(
    await links.filter({ hasText: 'Ana' }).getAttribute('href'),
    `#/a/${agent.id}/setup`,
  );
  await links.filter({ hasText: 'Message #1 in Steps' }).click();
  await page.waitForURL(new RegExp(`#/s/${space.id}/m/1$`));
});

test('what a run posted is shown as in its space, all of it', async (t) => {
  const answer = `It is **blue**.\n\n${'- <b>more</b>\n'.repeat(30)}`;
  const { page } = await opened(t, 'Formatted', [answerRule(answer)]);
  const quote = part(page, 'What came of it').locator('blockquote');
  await quote.locator('strong').getByText('blue').waitFor();
  assert.equal(await quote.getByText('<b>more</b>').count(), 30);
  assert.ok(await quote.evaluate((node) => node.scrollHeight <= node.clientHeight));
});

test('a step shows the files that the model got', async (t) => {
  const agent = await api.createAgent('Ana', [answerRule('It is a plan.')]);
  const space = await api.createSpace('Read files', [husam, agent], { maxChainDepth: 1 });
  await api.postMessage(space, husam, 'What is it?');
  const [{ id }] = await api.runs(space);
  const page = await openTab(t);
  // Scripted models get no files.
  await page.route(`**/v1/runs/${id}`, async (route) => {
    const response = await route.fetch();
    // The page has this answer already, with the file.
    if (response.status() === 304) return route.fulfill({ response });
    const run = await response.json();
    const label = '#1 [file #1 "plan.pdf" (application/pdf, 2 KB)]';
    const file = { name: 'plan.pdf', contentType: 'application/pdf', bytes: 1536, label };
    run.steps?.[0]?.prompt.messages.push({ role: 'files', files: [file] });
    return route.fulfill({ response, json: run });
  });
  await openSpace(page, 'Read files');
  await page.goto(`${product.base}/#/r/${id}`);
  await step(page, 1, 2).waitFor();
  const files = page.getByRole('list', { name: 'Files', exact: true });
  await files.waitFor();
  const lines = () => files.getByRole('listitem').allTextContents();
  assert.deepEqual(await lines(), ['plan.pdf PDF, 1.5 KB · message #1']);
  await page.getByRole('button', { name: 'Next step' }).click();
  await page.getByText(/^As before: /).click();
  await files.waitFor();
  assert.equal((await lines()).length, 1);
});

test('a run that waits is live: it is stopped, and asked again', async (t) => {
  const tool = formTool('ask', {
    ui: 'form',
    resultSchema: { type: 'object', properties: { color: { type: 'string' } } },
  });
  const rule = callRule('ask', { question: 'Which color?' }, 'It is blue.');
  const { page, space } = await opened(t, 'Waits', [rule], { tools: [tool] });
  await status(page, 'waits for an answer').waitFor();
  await part(page, 'What it did')
    .getByRole('button', { name: /ask · waits for people/ })
    .waitFor();
  const answer = part(page, 'What came of it').getByRole('link', { name: 'Answer' });
  assert.equal(await answer.getAttribute('href'), `#/s/${space.id}/m/2`);
  await page.getByRole('button', { name: 'Stop' }).click();
  await status(page, 'canceled').waitFor();
  await part(page, 'What came of it').getByText('It was stopped: a person stopped it.').waitFor();
  await fact(page, 'Ended because').getByText('a person stopped it').waitFor();

  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('main').getByText('It repeats an earlier run.').waitFor();
  await status(page, 'waits for an answer').waitFor();
  const [again] = await api.runs(space);
  assert.match(page.url(), new RegExp(`#/r/${again.id}$`));
  const card = (await api.messages(space)).findLast(({ runId }) => runId === again.id);
  const { callId } = card.parts.find(({ type }) => type === 'tool');
  await api.answer(husam, again.id, callId, { output: { color: 'blue' } });
  await status(page, 'completed').waitFor();
  await part(page, 'What it did').getByRole('button', { name: 'model · step 2' }).waitFor();
});

test('a run that failed says why', async (t) => {
  const { page } = await opened(t, 'Fails', [{ steps: [{ error: 'bad_request' }] }]);
  await status(page, 'failed').waitFor();
  await page.getByText('(bad_request)').first().waitFor();
  await page.getByRole('button', { name: 'Retry' }).waitFor();
  await part(page, 'What it did').getByRole('button', { name: 'the model failed' }).waitFor();
});

test('a fork begins at the selected step, and has a page of its own', async (t) => {
  const { page, agent } = await opened(t, 'Forks', [speaks]);
  await part(page, 'What it did').getByRole('button', { name: 'model · step 2' }).click();
  await step(page, 2, 3).waitFor();
  await page.getByRole('button', { name: 'Fork', exact: true }).click();
  const form = part(page, 'Try it again');
  const model = form.getByRole('textbox', { name: 'Model' });
  await waitUntilFocused(model);
  const from = form.getByRole('combobox', { name: 'From step' });
  await api.waitFor(async () => (await from.inputValue()) === '1');
  await form.getByRole('textbox', { name: 'Instructions' }).fill('Be brief.');
  await form.getByRole('button', { name: 'Fork here' }).click();
  for (const name of ['Then', 'Now'])
    await form.getByRole('region', { name, exact: true }).getByText('It is blue.').waitFor();
  await form.getByRole('button', { name: 'Keep for this agent' }).click();
  await form.getByRole('button', { name: 'Kept' }).waitFor();
  assert.equal((await api.entity(agent.id)).agent.instructions, 'Be brief.');

  const original = page.url();
  await form.getByRole('link', { name: 'Open the dry run' }).click();
  await page.getByText('A dry run of').waitFor();
  await step(page, 2, 3)
    .locator('details')
    .evaluateAll((all) => all.forEach((each) => each.setAttribute('open', '')));
  await step(page, 2, 3).getByText('Be brief.').first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Fork', exact: true }).count(), 0);
  await page.getByRole('link', { name: 'another run' }).click();
  await page.waitForURL(original);
  await part(page, 'Try it again').waitFor();
});

test('a member sees a run without its steps, and others do not see it', async (t) => {
  const agent = await api.createAgent('Ana', [answerRule('It is blue.')]);
  const space = await api.createSpace('Members', [husam, agent]);
  await api.postMessage(space, husam, 'What color is it?');
  const [{ id }] = await api.runs(space);
  const page = await openTab(t);
  await signInAs(page, husam, `#/r/${id}`);
  await page.getByRole('heading', { level: 1, name: 'Run of Ana' }).waitFor();
  await part(page, 'What it did').getByText('Operators also see each step').waitFor();
  await part(page, 'What woke it').getByText('What color is it?').waitFor();
  assert.equal(await page.getByText('INSTRUCTIONS:').count(), 0);
  assert.equal(await page.getByRole('region', { name: /^Step/ }).count(), 0);

  const other = await openTab(t, { expected: [/404/] });
  await signInAs(other, sarah, `#/r/${id}`);
  await other.getByRole('main').getByRole('alert').filter({ hasText: /run/i }).waitFor();
});

test('a run that does not exist is said so', async (t) => {
  const page = await openTab(t, { expected: [/404/] });
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  await page.goto(`${product.base}/#/r/run_00000000000000000000000000`);
  await page.getByRole('main').getByRole('alert').filter({ hasText: /\w/ }).waitFor();
});
