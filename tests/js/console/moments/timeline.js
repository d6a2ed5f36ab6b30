// The space of README's picture: a question, an answer, agents that stay silent, and a form.

import { formTool } from '../../api_client.js';

const ANSWER = `**v2.1** is ready, except for two things:

1. Freeze \`main\` at noon.
2. Run the migration, about 20 minutes.`;
const QUESTION = { message: 'Deploy v2.1 at noon?', options: ['Deploy', 'Wait'] };

/** A rule for the messages that contain a word: it makes one call. */
const calls = (contains, tool, input) => ({
  when: { sender: 'human', contains },
  steps: [{ calls: [{ tool, input }] }],
});
const skips = (contains, reason) => calls(contains, 'skip_response', { reason });

/** Makes the space and waits until it has its last message. Returns its id. */
export async function timeline(api) {
  const omar = await api.createPerson('Omar');
  const sara = await api.createPerson('Sara');
  const ana = await api.createAgent('Ana', [
    calls('release', 'send_message', { text: ANSWER }),
    skips('deploy', 'Deployer does that.'),
  ]);
  const tool = formTool('askToDeploy', { ui: 'buttons' });
  const rules = [calls('deploy', 'askToDeploy', QUESTION), skips('release', 'Ana knows the plan.')];
  const deployer = await api.createAgent('Deployer', rules, 0, [tool]);
  const members = [omar, sara, ana, deployer];
  const space = await api.createSpace('Version 2.1', members, { maxChainDepth: 1 });
  const first = await api.postMessage(space, sara, 'What is left before we can release?');
  for (const { runId } of first.dispatch) await api.waitForRun(runId);
  await api.postMessage(space, omar, 'Then deploy it, please.');
  return space.id;
}
