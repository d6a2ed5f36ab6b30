// A world in which every page of the console has something to show, and the pages with their
// addresses. The tests of accessibility open each, and `moments/record.js` takes screenshots.

import { answerRule, callRule, formTool } from '../api_client.js';

const PLAN = `# Release checklist

Here is the plan for **v2.1**:

1. Freeze \`main\` at *noon*
2. Run the migration:

\`\`\`sql
ALTER TABLE orders ADD COLUMN region text NOT NULL DEFAULT 'eu';
\`\`\`

| step | owner | minutes |
|---|---|---|
| freeze | Sara | 5 |
| migrate | Omar | 20 |
`;

const skips = (reason) => ({ steps: [{ calls: [{ tool: 'skip_response', input: { reason } }] }] });

/** Makes the world. Returns the ids that the addresses name. */
export async function world(api) {
  const omar = await api.createPerson('Omar');
  const sara = await api.createPerson('Sara');
  const ana = await api.createAgent('Ana', [answerRule(PLAN)]);
  const fay = await api.createAgent('Fay', [{ steps: [{ error: 'rate_limited' }] }]);
  const quinn = await api.createAgent('Quinn', [
    skips('Ana is better placed to answer a release question.'),
  ]);
  await api.change(ana.id, { agent: { instructions: `Answer with this plan:\n${PLAN}` } });
  const pax = await api.createAgent('Pax', []);
  await api.pause(pax);
  const asks = callRule('deploy', { title: 'When may I deploy v2.1?' }, 'Thank you.');
  const form = {
    type: 'object',
    properties: {
      day: { type: 'string', format: 'date', title: 'Day' },
      team: { type: 'string', enum: ['Web', 'Billing'], title: 'Team on call' },
    },
    required: ['day'],
  };
  const tool = formTool('deploy', { ui: 'form', resultSchema: form });
  const bot = await api.createAgent('DeployBot', [asks], 0, [tool]);
  const once = { maxChainDepth: 1 };
  const deployments = await api.createSpace('Deployments', [omar, sara, bot], once);
  await api.postMessage(deployments, omar, 'Please deploy v2.1.');
  const release = await api.createSpace('Release v2.1', [omar, sara, ana, fay, quinn, pax], once);
  await api.postMessage(release, omar, 'What is left before we can release?');
  await api.request('PUT', `/v1/spaces/${release.id}/pins/1`);
  await api.postMessage(release, sara, 'Only the release notes.', { replyTo: 1 });
  const { dispatch } = await api.postMessage(release, omar, 'And one for v2.2');
  const run = dispatch.find(({ agentId }) => agentId === ana.id).runId;
  await api.waitForRun(run);
  return { release: release.id, deployments: deployments.id, ana: ana.id, bot: bot.id, run };
}

/** The pages: a name, an address, and a text that shows once the page is there. */
export const PAGES = [
  ['space', '#/s/{release}', 'Release checklist'],
  ['form', '#/s/{deployments}', 'When may I deploy v2.1?'],
  ['why', '#/s/{release}?why={run}', 'What it read'],
  ['thread', '#/s/{release}?thread=1', 'Only the release notes'],
  ['chain', '#/s/{release}?why={run}&tab=chain', 'The chain'],
  ['run', '#/r/{run}', 'What it read'],
  ['agents', '#/agents', 'DeployBot'],
  ['new-agent', '#/agents/new', 'Silent observer'],
  ['agent-setup', '#/a/{ana}/setup', 'Instructions'],
  ['agent-tools', '#/a/{bot}/tools', 'deploy'],
  ['agent-memory', '#/a/{ana}/memory', 'Memory'],
  ['agent-goals', '#/a/{ana}/goals', 'Goals'],
  ['agent-plans', '#/a/{ana}/plans', 'Plans'],
  ['agent-deliveries', '#/a/{ana}/deliveries', 'Deliveries'],
  ['agent-revisions', '#/a/{ana}/revisions?revision=1', 'Then and now'],
  ['agent-runs', '#/a/{ana}/runs', 'Runs'],
  ['settings', '#/s/{release}/settings', 'Invites'],
  ['inbox', '#/inbox', 'When may I deploy v2.1?'],
  ['people', '#/people', 'Omar'],
  ['runs', '#/runs', 'DeployBot'],
  ['usage', '#/usage', 'cost'],
];

/** The address of a page in this world. */
export const addressOf = (address, ids) => address.replace(/\{(\w+)\}/g, (_, id) => ids[id]);
