// What a run did and why, in words. Pure.

import type { Run } from '@smartspace/client';

const SOURCES = {
  broadcast: 'everyone is asked here',
  mention: 'it was mentioned',
  router: 'the router chose it',
  delegated: 'another agent handed it on',
  admin: 'it is the admin agent of this space',
  auto: 'it answers this message as the policy of this space says',
} as const;

/** Why a message triggered a run. */
export const sourceWords = (source: keyof typeof SOURCES): string => SOURCES[source];

/** The question that the drawer answers. */
export function questionOf({ status, endReason }: Run, name: string, hasSpoken: boolean): string {
  switch (status) {
    case 'queued':
      return `Why does ${name} wait?`;
    case 'running':
      return `What is ${name} doing?`;
    case 'waiting_tool':
      return `What does ${name} wait for?`;
    case 'failed':
      return `Why did ${name} fail?`;
    case 'canceled':
      return `Why did ${name} stop?`;
    case 'completed':
      return hasSpoken && endReason !== 'skipped'
        ? `Why did ${name} speak?`
        : `Why did ${name} stay silent?`;
  }
}

/** A duration: `384 ms`, `2.4 s`, `3 min 5 s`. */
export function durationText(lengthMs: number): string {
  if (lengthMs < 1000) return `${Math.round(lengthMs)} ms`;
  if (lengthMs < 60_000) return `${(lengthMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(lengthMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Dollars, with as many digits as say something. */
export function costText(cost: number | null): string {
  if (cost === null) return 'no price';
  if (cost === 0) return '$0';
  return `$${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}`;
}
