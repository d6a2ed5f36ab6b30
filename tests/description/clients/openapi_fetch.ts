// Calls the API with openapi-fetch and the types that openapi-typescript has generated.

import createClient from 'openapi-fetch';
import type { components, paths } from 'generated/types';
import { check, given } from './given';

const { base, key, space, agent, person } = given;
const headers = { authorization: `Bearer ${key}` };
const client = createClient<paths>({ baseUrl: base, headers });
const path = { id: space };

const made = await client.POST('/v1/spaces/{id}/messages', {
  params: { path },
  body: { text: 'Generated.', senderId: person },
});
check(made.response.status === 201 && made.data?.seq, made);

const listed = await client.GET('/v1/spaces/{id}/messages', { params: { path } });
const messages = listed.data?.items ?? [];
const own = messages.find(({ id }) => id === made.data?.id)?.parts[0];
check(own?.type === 'text' && own.text === 'Generated.', own);
const card = messages.find(({ parts }) => parts[0]?.type === 'tool');
const part = card?.parts[0];
check(part?.type === 'tool' && part.name === 'ask', part);
const origin = card?.origin;
check(origin?.type === 'space_message' && 'seq' in origin && origin.seq === 1, origin);

const runs = await client.GET('/v1/spaces/{id}/runs', { params: { path } });
check(runs.data?.items[0]?.agentId === agent, runs);
const plans = await client.GET('/v1/agents/{id}/plans', { params: { path: { id: agent } } });
const plan = plans.data?.items[0];
check(plan?.type === 'cron' && plan.cron === '0 9 * * *', plan);

// A value of one type, which a schema that nothing satisfies would refuse.
const fork: components['schemas']['ForkRequest'] = { fromStep: 1, mode: 'dry' };
check(fork.mode === 'dry', fork);
