// Rules and allowances of agents, as the HTTP API has them.

import type { Approval } from '@smartspace/client';

/** A rule of an agent: calls of these tools wait for people, or are refused. */
export interface ApprovalRule {
  tools: readonly string[];
  action?: 'ask' | 'deny';
  /** CEL; without it the rule always counts. */
  when?: string;
  by?: Approval['by'];
  quorum?: number;
  expiresAfter?: string;
  onExpire?: 'decline' | 'end';
}

/** A remembered approval. */
export interface Allowance {
  id: string;
  agentId: string;
  tool: string;
  /** Null: it counts everywhere. */
  spaceId: string | null;
  /** CEL; null: every call. */
  when: string | null;
  createdBy: string;
  createdByName: string;
  createdAt: string;
  expiresAt: string | null;
}

/** What a call would need. `rule` is the place of the rule that decides, from 0. */
export interface ApprovalPreview {
  verdict: 'make' | 'deny' | 'ask';
  rule: number | null;
  by: Approval['by'] | null;
  quorum: number | null;
  allowanceId: string | null;
}
