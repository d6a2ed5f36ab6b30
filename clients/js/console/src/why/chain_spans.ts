// The runs of a chain as spans of time, each after the run that woke it. Pure.

import type { Run } from '@smartspace/client';
import type { ChainNode } from './chain_tree.ts';

/** One run on the axis of its chain. Times are in milliseconds since 1970. */
export interface ChainSpan {
  runId: string;
  agentId: string;
  status: Run['status'];
  /** The number of runs above it. */
  level: number;
  from: number;
  /** Null: it is under way. */
  to: number | null;
}

/** The runs of a tree that are loaded. */
export function chainSpans(node: ChainNode, level = 0): ChainSpan[] {
  if (node.type === 'message') return node.children.flatMap((child) => chainSpans(child, level));
  const below = node.children.flatMap((child) => chainSpans(child, level + 1));
  const { run, runId, agentId } = node;
  if (!run) return below;
  const { status, startedAt, createdAt, finishedAt } = run;
  const from = Date.parse(startedAt ?? createdAt);
  const to = finishedAt === null ? null : Date.parse(finishedAt);
  return [{ runId, agentId, status, level, from, to }, ...below];
}
