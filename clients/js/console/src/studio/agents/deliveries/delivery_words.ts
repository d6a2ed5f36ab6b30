// The status of a delivery in words. Pure.

import type { Schemas } from '@smartspace/client';

type Status = Schemas['DeliveryStatus'];

/** Each status in words. */
export const STATES: Record<Status, string> = {
  accepted: 'Triggered the agent',
  repeated: 'Came again',
  refused: 'Did not trigger the agent',
  rejected: 'Rejected',
};

const REASONS: Record<string, string> = {
  paused: 'because the agent is paused',
  chain_depth: 'because the chain is too deep',
  rate: 'because the runs of the minute were used',
  budget: 'because the budget of the day was used',
};

/** Why a delivery did not trigger the agent. */
export const reasonWords = (reason: string): string => REASONS[reason] ?? reason;

/** Whether the payload is stored, so that it can be sent again. */
export const isStored = (status: Status): boolean => status === 'accepted' || status === 'refused';
