// A chain in words: its messages and runs, and the reasons why it ended. Pure.

import type { Message } from '@smartspace/client';
import { excerptOf } from '../message/message_words.ts';
import { onOneLine } from '../ui/visible.ts';
import { nodesOf, type ChainNode, type RunNode } from './chain_tree.ts';
import { refusalWords } from './outcomes.ts';
import { endWords, statusWords } from './words.ts';

const LONGEST_CHARS = 90;
const PARTS = { tool: 'card', file: 'file' };

/** An end of a chain, and the agents for which it ended so. */
export interface Ending {
  words: string;
  agentIds: string[];
}

/** The first words of a message, or the names of the tool on its card and of its files. */
export function firstWords({ parts }: Message): string {
  const words = parts.map((part) =>
    part.type === 'text' ? excerptOf(part.text) : `${PARTS[part.type]}: ${part.name}`,
  );
  return onOneLine(words.join(' '), LONGEST_CHARS);
}

/** The outcome of a run. Why it failed is for the operator. */
export function runWords({ run, children }: RunNode, isOperator: boolean): string {
  if (!run) return 'its run is not loaded';
  switch (run.status) {
    case 'completed':
      if (run.endReason === 'skipped') return run.reason ? `silent: “${run.reason}”` : 'silent';
      if (children.some(({ type }) => type === 'message')) return 'spoke';
      return run.endReason === 'done' ? 'posted nothing here' : (endWords(run) ?? 'completed');
    case 'failed':
      if (!isOperator) return 'cannot answer at the moment';
      return `failed: ${run.error?.message ?? 'no reason was given'}`;
    case 'canceled':
      return `stopped: ${endWords(run) ?? 'no reason was given'}`;
    default:
      return `${statusWords(run)}: still going`;
  }
}

/** Why a message woke no agent, or null if it woke one. */
export function nobodyWords(node: ChainNode): string | null {
  if (node.type === 'run' || node.children.length > 0) return null;
  if (node.message.parts.some(({ type }) => type === 'tool')) return 'a card wakes nobody';
  if (node.refused === null) return 'it is being decided who wakes';
  return node.refused.length === 0 ? 'no agent hears it' : 'it woke nobody';
}

/** The ends of a chain: its runs without a message, and the agents that no message woke. */
export function endingsOf(root: ChainNode, isOperator: boolean): Ending[] {
  const endings = new Map<string, string[]>();
  const add = (words: string, agentId: string) => {
    const agentIds = endings.get(words) ?? [];
    if (!agentIds.includes(agentId)) endings.set(words, [...agentIds, agentId]);
  };
  for (const node of nodesOf(root)) {
    if (node.type === 'run') {
      if (node.children.length === 0 || isActive(node))
        add(runWords(node, isOperator), node.agentId);
    } else if (node.children.length === 0)
      for (const { agentId, reason, reasonText } of node.refused ?? [])
        add(`not woken: ${refusalWords(reasonText ?? reason ?? null)}`, agentId);
  }
  return [...endings].map(([words, agentIds]) => ({ words, agentIds }));
}

/** Whether a run of the chain is active. */
export const isGoing = (root: ChainNode): boolean =>
  nodesOf(root).some((node) => node.type === 'run' && isActive(node));

const isActive = ({ run }: RunNode) => run?.finishedAt === null;
