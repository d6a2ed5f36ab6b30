// Calls the API with the client that hey-api has generated.

import { client } from 'generated/hey/client.gen';
import { createMessage, listMessages, listPlans, listRunsOfSpace } from 'generated/hey/sdk.gen';
import { check, given } from './given';

const { base, key, space, agent, person } = given;
client.setConfig({ baseUrl: base, auth: key });
const path = { id: space };

const made = await createMessage({ path, body: { text: 'Generated.', senderId: person } });
check(made.response?.status === 201 && made.data?.seq, made);

const messages = (await listMessages({ path })).data?.items ?? [];
const own = messages.find(({ id }) => id === made.data?.id)?.parts[0];
check(own?.type === 'text' && own.text === 'Generated.', own);
const card = messages.find(({ parts }) => parts[0]?.type === 'tool');
const part = card?.parts[0];
check(part?.type === 'tool' && part.name === 'ask', part);
const origin = card?.origin;
check(origin?.type === 'space_message' && 'seq' in origin && origin.seq === 1, origin);

check((await listRunsOfSpace({ path })).data?.items[0]?.agentId === agent, 'no run');
const plan = (await listPlans({ path: { id: agent } })).data?.items[0];
check(plan?.type === 'cron' && plan.cron === '0 9 * * *', plan);
