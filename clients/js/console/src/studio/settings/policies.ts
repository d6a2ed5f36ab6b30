// The trigger policies in words, and the body of a change of the settings. Pure.

import type { Schemas, SpaceInfo } from '@smartspace/client';
import { costText } from '../../why/words.ts';

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
    value: 'router',
    text: 'A router chooses',
    hint: 'A model reads each message that names no agent, and wakes the agents that can help.',
  },
  {
    value: 'admin',
    text: 'Only the admin agent',
    hint: 'Messages of people wake one agent, which can pass them on to the others.',
  },
];

export const policyText = (policy: Policy): string =>
  POLICIES.find(({ value }) => value === policy)?.text ?? policy;

/** A patch of the settings. Another provider than `scripted` accepts no script. */
export function withoutScript(
  body: Record<string, unknown>,
  { router }: Pick<SpaceInfo, 'router'>,
): Record<string, unknown> {
  const change = body.router as { model?: { provider?: string } } | undefined;
  const model = change?.model;
  const provider = model?.provider;
  if (!router?.model.script || provider === undefined || provider === 'scripted') return body;
  return { ...body, router: { ...change, model: { ...model, script: null } } };
}

/** The limits of a space in words. */
export function budgetText({ tokensPerDay, costPerDay, runsPerMinute }: Schemas['Budget']): string {
  return [
    typeof tokensPerDay === 'number' ? `${counted(tokensPerDay, 'token')} a day` : '',
    typeof costPerDay === 'number' ? `${costText(costPerDay)} a day` : '',
    `${counted(runsPerMinute, 'run')} a minute`,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** The usage of today, beside the limits. */
export function todayText(used: Schemas['UsageItem'], budget: Schemas['Budget']): string {
  const { tokensPerDay, costPerDay } = budget;
  const tokens = counted(used.inputTokens + used.outputTokens, 'token');
  const ofTokens = typeof tokensPerDay === 'number' ? ` of ${tokensPerDay.toLocaleString()}` : '';
  const ofCost = typeof costPerDay === 'number' ? ` of ${costText(costPerDay)}` : '';
  // Nothing has a price if nothing was used.
  const isUnused = used.inputTokens === 0;
  const price = costText(isUnused ? 0 : used.cost);
  const cost = isUnused && ofCost === '' ? [] : [`${price}${ofCost}`];
  return [`${tokens}${ofTokens}`, ...cost, counted(used.runs, 'run')].join(' · ');
}

const counted = (count: number, name: string) =>
  `${count.toLocaleString()} ${name}${count === 1 ? '' : 's'}`;
