// The five moments that the console is for, and the first minute with it. `moments.test.js` plays
// them as tests, `record.js` as recordings. `actor` moves the pointer, types, and waits where a
// person would look: in a test it does not wait.

import { ApiClient, answerRule } from '../../api_client.js';

const pill = (page, name) => page.getByRole('button', { name });
const idle = (page) => page.locator('#working li').first().waitFor({ state: 'detached' });
const stored = (page) => page.locator('.bubble.agent .entry[data-state="stored"] .text');

/** A first conversation in the demo. */
export const first = {
  space: async () => 'Welcome',
  async play({ page, actor }) {
    await actor.say('Hello! Who is here?');
    await stored(page).first().waitFor();
    await idle(page);
    await actor.look();
    await actor.say('Time for a coffee?');
    await actor.click(pill(page, 'Yes, please'));
    await stored(page).nth(1).waitFor();
    await idle(page);
  },
};

/** One click says why an agent spoke. */
export const why = {
  space: async () => 'Welcome',
  async play({ page, actor }) {
    await actor.say('Hello! Who is here?');
    await stored(page).first().waitFor();
    await idle(page);
    await actor.click(pill(page, 'Guide spoke'));
    const drawer = page.getByRole('complementary', { name: 'Why did Guide speak?' });
    await drawer.getByText('everyone is asked here').waitFor();
    await drawer.getByRole('row', { name: 'Observer' }).getByText('“I only watch.”').waitFor();
    await drawer.getByText('model · step 1').waitFor();
    await drawer.getByText('INSTRUCTIONS:').waitFor();
    await actor.look();
  },
};

/** The roll call: silence is visible, with its reason. */
export const rollCall = {
  async space(api) {
    const speaks = [answerRule('On Friday, if the tests pass.')];
    const stays = [
      {
        steps: [{ calls: [{ tool: 'skip_response', input: { reason: 'Ana knows the plan.' } }] }],
      },
    ];
    const ana = await api.createAgent('Ana', speaks, 150);
    const quinn = await api.createAgent('Quinn', stays, 250);
    const fay = await api.createAgent('Fay', [{ steps: [{ error: 'rate_limited' }] }]);
    const pax = await api.createAgent('Pax', speaks);
    await api.pause(pax);
    const robin = await api.entityNamed('Robin');
    const members = [robin, ana, quinn, fay, pax];
    await api.createSpace('Release v2.1', members, { maxChainDepth: 1 });
    return 'Release v2.1';
  },
  async play({ page, actor }) {
    await actor.type('When do we release?');
    await page.getByText('asks 3 agents · not Pax (paused)').waitFor();
    await actor.look();
    // Ana writes for a second only, and a locator looks twice a second.
    const isWriting = () =>
      [...document.querySelectorAll('.roll-call button')].some(({ textContent }) =>
        textContent.startsWith('Ana writing…'),
      );
    await Promise.all([page.waitForFunction(isWriting), actor.press('Enter')]);
    await pill(page, 'Ana spoke').waitFor();
    await pill(page, 'Fay failed').waitFor();
    await actor.click(pill(page, /^1 silent, 1 not woken/));
    await page.getByText('“Ana knows the plan.”').waitFor();
    await page.getByText('not woken: paused').waitFor();
    await actor.look();
  },
};

/** The chain: who answered whom, and where it ended. */
export const chain = {
  async space(api) {
    const replies = (text) => [{ when: { trigger: 'space_message' }, steps: [say(text)] }];
    const cleo = await api.createAgent('Cleo', replies('I see one open question.'), 60);
    const dan = await api.createAgent('Dan', replies('I have an answer to that.'), 60);
    const robin = await api.entityNamed('Robin');
    await api.createSpace('Review', [robin, cleo, dan], { maxChainDepth: 2 });
    return 'Review';
  },
  async play({ page, actor }) {
    await actor.say('Please look at this.');
    await page
      .getByText(/^The agents stop here/)
      .first()
      .waitFor();
    await idle(page);
    await actor.click(pill(page, 'Cleo spoke').first());
    await actor.click(page.getByRole('tab', { name: 'Chain' }));
    await page.getByRole('tabpanel').getByText('Please look at this.').waitFor();
    await actor.look();
  },
};

/** A fork: what the agent would have said with other instructions. */
export const fork = {
  needsModel: true,
  async space(api) {
    const instructions = 'Explain things.';
    const ana = await api.createModelAgent('Ana', 'openai', 'gpt-5-mini', instructions);
    const robin = await api.entityNamed('Robin');
    await api.createSpace('Physics', [robin, ana]);
    return 'Physics';
  },
  async play({ page, actor }) {
    await actor.say('Why is the sky blue?');
    await actor.click(pill(page, 'Ana spoke'));
    const form = page.getByRole('region', { name: 'Try it again' });
    await actor.click(form.getByRole('textbox', { name: 'Instructions' }));
    await actor.type('Be brief.', form.getByRole('textbox', { name: 'Instructions' }));
    await actor.click(form.getByRole('button', { name: 'Fork here' }));
    const now = form.getByRole('region', { name: 'Now', exact: true });
    await now.getByText('Air scatters blue light most.').waitFor();
    await now.scrollIntoViewIfNeeded();
    await actor.look();
    await actor.click(form.getByRole('button', { name: 'Keep for this agent' }));
    await form.getByRole('button', { name: 'Kept' }).waitFor();
  },
};

/** The server is killed while an agent writes, and the answer comes, once. */
export const survival = {
  needsData: true,
  async space(api) {
    const text =
      'This sentence is long, so that there is time to kill the server while it is being ' +
      'written. You see it stop. The run goes on as soon as the server is back.';
    const ana = await api.createAgent('Ana', [answerRule(text)], 120);
    const robin = await api.entityNamed('Robin');
    await api.createSpace('Unkillable', [robin, ana]);
    return 'Unkillable';
  },
  async play({ page, actor, product }) {
    await actor.say('Tell me something long.');
    await page.getByText('This sentence is long').waitFor();
    await product.kill();
    await page.locator('.status:not([data-status="live"])').first().waitFor();
    await actor.look();
    await product.restart();
    await page.locator('#status[data-status="live"]').waitFor();
    await pill(page, 'Ana spoke').waitFor();
    await stored(page)
      .getByText(/as soon as the server is back\.$/)
      .waitFor();
    await actor.look();
  },
};

const say = (text) => ({ calls: [{ tool: 'send_message', input: { text } }] });

/** Creates the space of a scene in the product, and opens it in a page. */
export async function open(scene, page, product) {
  const name = await scene.space(new ApiClient(product));
  await page.goto(`${product.base}/#key=${product.adminKey}`);
  const spaces = page.getByRole('navigation', { name: 'Spaces' });
  await spaces.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.locator('#status[data-status="live"]').waitFor();
  // The operator writes in nobody's name before it has chosen one.
  await page.getByRole('combobox', { name: 'as' }).selectOption('Robin');
}
