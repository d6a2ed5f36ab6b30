// The outcomes of a message for its agents, in words. Pure.

import type { ChainEnded, Outcome } from '@smartspace/client';

const WORDS: Record<Outcome['state'], string> = {
  asked: 'asked',
  thinking: 'thinking…',
  writing: 'writing…',
  waiting: 'waiting for an answer',
  spoke: 'spoke',
  reacted: 'reacted',
  silent: 'silent',
  refused: 'silent: the model refused',
  failed: 'failed',
  stopped: 'stopped',
  notWoken: 'not woken',
  unknown: 'woken',
};
const REASONS: Record<string, string> = {
  paused: 'paused',
  chain_stopped: 'chain stopped',
  chain_depth: 'chain depth reached',
  policy: 'only agents that are named, or the admin agent, are asked here',
  router: 'not chosen by the router',
  no_admin: 'the admin agent has left, so only mentioned agents wake',
  auto_replies: 'auto replies used up',
  rate: 'too many runs a minute',
  budget: 'budget used up',
  busy: 'too many active runs',
};
const ENDINGS: Record<string, string> = {
  cancel: 'by a person',
  declined: 'instead of an approval',
  stop_run: 'by another agent',
  absorbed: 'another run took over',
  superseded: 'a newer message took over',
  coalesced: 'another run answers',
  removed: 'it left the space',
  deleted: 'its message was deleted',
};

// Why a run without a message ended, if its agent gave no reason.
const SILENCES: Record<string, string | null> = {
  done: null,
  skipped: null,
  delegated: 'handed the message on',
  length: 'its answer was cut at the limit of tokens',
  max_steps: 'it reached its limit of steps',
  time_limit: 'it reached its time limit',
};

export const stateWords = ({ state, reason }: Outcome): string =>
  state === 'reacted' && reason !== null ? `${WORDS[state]} ${reason}` : WORDS[state];

/** Why it came to this state, or null if there is nothing to say. */
export function reasonOf({ state, reason }: Outcome): string | null {
  if (state === 'notWoken') return refusalWords(reason);
  if (reason === null || state === 'reacted') return null;
  if (state === 'silent') return reason in SILENCES ? (SILENCES[reason] ?? null) : `“${reason}”`;
  return state === 'stopped' ? (ENDINGS[reason] ?? reason) : reason;
}

/** What there is to say about an outcome besides its state, or ''. */
export function moreWords(outcome: Outcome): string {
  const reason = outcome.state === 'failed' ? null : reasonOf(outcome);
  const chosen = outcome.sourceText === null ? [] : [`chosen: ${phrase(outcome.sourceText)}`];
  return [...(reason === null ? [] : [reason]), ...chosen].join(' · ');
}

/** Why a message did not wake an agent: by the code of `dispatch`, or in words of its own. */
export const refusalWords = (reason: string | null): string =>
  REASONS[reason ?? ''] ?? phrase(reason ?? 'no reason was given');

const LIMITS: Record<ChainEnded['by'], string> = {
  depth: 'in a row',
  auto_replies: 'each',
  rate: 'runs a minute',
};

/** The limit at which the agents stop, in a line of a phone. Each agent counts its auto replies. */
export const endedWords = ({ by, limit }: ChainEnded): string =>
  `The agents stop here (${limit} ${LIMITS[by]}). Write to go on.`;

/** The ids of agents that a message did not wake, by why. */
export function byRefusal(
  refused: readonly { agentId: string; reason: string | null }[],
): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { agentId, reason } of refused) {
    const why = refusalWords(reason);
    groups.set(why, [...(groups.get(why) ?? []), agentId]);
  }
  return groups;
}

/** A sentence without its full stop. */
export const phrase = (text: string): string => text.trim().replace(/\.$/, '');
