// The trigger policies in words, and the body of a change of the settings. Pure.

import type { Schemas, SpaceInfo } from '@smartspace/client';
import { costText, usageCost } from '../../why/words.ts';

type Policy = Schemas['TriggerPolicy'];

/** The policies, the usual one first. */
export const POLICIES: readonly { value: Policy; text: string; hint: string }[] = [
  {
    value: 'all',
    text: 'Everyone is asked',
    hint: 'Each message wakes every agent. An agent may stay silent.',
  },
  {
    value: 'mention',
    text: 'Only agents that are named',
    hint: 'A message wakes the agents that it names with @. In a space of two, no name is needed.',
  },
  {
    value: 'partner',
    text: 'The agent that its sender talks with',
    hint:
      'A message that names no agent wakes the one with which its sender spoke last. Messages of ' +
      'agents wake only those that they name.',
  },
  {
    value: 'router',
    text: 'A router chooses',
    hint:
      'If a message names no agent, the gate wakes those that are likely to answer: a score for ' +
      'each agent, made without a model. In doubt it asks a model, if there is one.',
  },
  {
    value: 'admin',
    text: 'Only the admin agent',
    hint: 'Messages of people wake one agent, which can pass them on to the others.',
  },
];

export const policyText = (policy: Policy): string =>
  POLICIES.find(({ value }) => value === policy)?.text ?? policy;

/** What an owner may set at most; only the operator may set more. */
export const OWNER_LIMITS = {
  maxChainDepth: 5,
  maxAutoReplies: 3,
  runsPerMinute: 120,
  instructions: 2000,
};

const NO_BUDGET: Schemas['Budget'] = {
  tokensPerDay: null,
  costPerDay: null,
  runsPerMinute: OWNER_LIMITS.runsPerMinute,
};

/** The limits of a space. Only its owners and the operator get them. */
export const budgetOf = ({ budget }: Partial<Pick<SpaceInfo, 'budget'>>): Schemas['Budget'] =>
  budget ?? NO_BUDGET;

/** Stands for no provider: the router model of the deployment. */
export const OF_DEPLOYMENT = '-';

/**
 * A patch of the settings. The router model of the deployment is no model of the space, and another
 * provider than `scripted` accepts no script.
 */
export function routerChange(
  body: Record<string, unknown>,
  { router }: Pick<SpaceInfo, 'router'>,
): Record<string, unknown> {
  const change = body.router as { model?: { provider?: string } } | undefined;
  const model = change?.model;
  const provider = model?.provider;
  if (provider === OF_DEPLOYMENT) return { ...body, router: { ...change, model: null } };
  if (!modelOf(router)?.script || provider === undefined || provider === 'scripted') return body;
  return { ...body, router: { ...change, model: { ...model, script: null } } };
}

/** The own model of a router; null if it is that of the deployment. */
export const modelOf = (router: SpaceInfo['router']): RouterModel | null =>
  (router?.model as RouterModel | null | undefined) ?? null;

type RouterModel = NonNullable<NonNullable<SpaceInfo['router']>['model']>;

/** The usage of today, beside the limits. */
export function todayText(used: Schemas['UsageItem'], budget: Schemas['Budget']): string {
  const { tokensPerDay, costPerDay } = budget;
  const tokens = counted(used.inputTokens + used.outputTokens, 'token');
  const ofTokens = typeof tokensPerDay === 'number' ? ` of ${tokensPerDay.toLocaleString()}` : '';
  const ofCost = typeof costPerDay === 'number' ? ` of ${costText(costPerDay)}` : '';
  const isUnused = used.inputTokens === 0;
  const cost = isUnused && ofCost === '' ? [] : [`${usageCost(used)}${ofCost}`];
  return [`${tokens}${ofTokens}`, ...cost, counted(used.runs, 'run')].join(' · ');
}

const counted = (count: number, name: string) =>
  `${count.toLocaleString()} ${name}${count === 1 ? '' : 's'}`;
