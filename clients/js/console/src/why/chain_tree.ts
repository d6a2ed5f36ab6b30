// A chain of messages and runs as a tree: a message wakes runs, and runs post messages. Pure.

import type { Dispatch, Message, Run } from '@smartspace/client';

/** The loaded messages and runs of a space. */
export interface ChainData {
  messages: readonly Message[];
  /** By their ids. */
  runs: ReadonlyMap<string, Run>;
}

/** Where a chain begins: at a message, or at a run. */
export type Start =
  | { message: Message }
  /** `isMissing`: a message woke the run, and it is not loaded. */
  | { runId: string; isMissing: boolean };

export interface MessageNode {
  type: 'message';
  message: Message;
  children: RunNode[];
  /** The agents that it did not wake; null while that is undecided. */
  refused: readonly Dispatch[] | null;
  /** The cost of its router and of everything below it; null if nothing has a price. */
  cost: number | null;
}

export interface RunNode {
  type: 'run';
  runId: string;
  agentId: string;
  /** Null if it is not loaded. */
  run: Run | null;
  children: (MessageNode | RunNode)[];
  /** The cost of it and of everything below it; null if nothing has a price. */
  cost: number | null;
}

export type ChainNode = MessageNode | RunNode;

// A chain is as deep as its space allows. This holds for data that is wrong.
const DEEPEST = 100;

/** Goes back from a run to the start of its chain. */
export function startOf({ messages, runs }: ChainData, runId: string): Start {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const seen = new Set<string>();
  // A message of the run, which says as well why the run was started.
  let message: Message | null = null;
  for (;;) {
    const trigger: object | null = runs.get(runId)?.trigger ?? message?.origin ?? null;
    const messageId = messageIdOf(trigger);
    if (messageId === null) return { runId, isMissing: trigger === null };
    const before = byId.get(messageId);
    if (!before || seen.has(messageId)) return { runId, isMissing: true };
    seen.add(messageId);
    if (before.runId === null) return { message: before };
    message = before;
    runId = before.runId;
  }
}

/** The tree below the start. Each message and each run is in it once. */
export function treeOf(data: ChainData, start: Start): ChainNode {
  const { messages, runs } = data;
  const posted = grouped(messages, ({ runId }) => runId);
  const triggered = grouped(
    [...runs.values()].filter(({ forkOf }) => !forkOf),
    ({ trigger }) => messageIdOf(trigger),
  );
  const placed = new Set<string>();
  const isFree = (id: string) => !placed.has(id) && placed.add(id);

  function messageNode(message: Message, level: number): MessageNode {
    const { id, dispatch, router } = message;
    const node: MessageNode = {
      type: 'message',
      message,
      children: [],
      refused: dispatch?.filter(({ runId }) => runId === null) ?? null,
      cost: router?.usage?.cost ?? null,
    };
    if (level >= DEEPEST) return node;
    const add = (runId: string, agentId: string) => {
      if (isFree(runId)) node.children.push(runNode(runId, agentId, level + 1));
    };
    for (const { runId, agentId } of dispatch ?? []) if (runId) add(runId, agentId);
    // A run that was handed on or repeated is below the run before it, if that run is loaded.
    for (const run of triggered.get(id) ?? []) add(run.id, run.agentId);
    node.cost = sum([node.cost, ...node.children.map(({ cost }) => cost)]);
    return node;
  }

  function runNode(runId: string, agentId: string, level: number): RunNode {
    const run = runs.get(runId) ?? null;
    const children: RunNode['children'] = [];
    const node: RunNode = { type: 'run', runId, agentId, run, children, cost: null };
    if (level < DEEPEST) {
      for (const message of posted.get(runId) ?? [])
        if (isFree(message.id)) children.push(messageNode(message, level + 1));
      for (const next of triggered.get(messageIdOf(run?.trigger ?? null) ?? '') ?? [])
        if (follows(next, runId, agentId) && isFree(next.id))
          children.push(runNode(next.id, next.agentId, level + 1));
    }
    node.cost = sum([run?.usage?.cost ?? null, ...children.map(({ cost }) => cost)]);
    return node;
  }

  if ('message' in start) {
    isFree(start.message.id);
    return messageNode(start.message, 0);
  }
  isFree(start.runId);
  return runNode(start.runId, agentOf(data, start.runId), 0);
}

/** All nodes of a tree, each before those below it. */
export const nodesOf = (node: ChainNode): ChainNode[] => [
  node,
  ...node.children.flatMap((child) => nodesOf(child)),
];

/** The depth of a node, as the server counts it; null if it is not known. */
export const depthOf = (node: ChainNode): number | null =>
  node.type === 'message' ? node.message.chainDepth : (node.run?.chainDepth ?? null);

// Whether the agent of a run handed its message on to another run, or was asked again.
function follows({ trigger, retryOf }: Run, runId: string, agentId: string): boolean {
  if (retryOf) return retryOf === runId;
  return 'delegatedBy' in trigger && trigger.delegatedBy?.id === agentId;
}

const agentOf = ({ runs, messages }: ChainData, runId: string): string =>
  runs.get(runId)?.agentId ?? messages.find((message) => message.runId === runId)?.sender.id ?? '';

function messageIdOf(trigger: object | null): string | null {
  return trigger && 'messageId' in trigger && typeof trigger.messageId === 'string'
    ? trigger.messageId
    : null;
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string | null): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== null) groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

function sum(costs: readonly (number | null)[]): number | null {
  const known = costs.filter((cost) => cost !== null);
  return known.length === 0 ? null : known.reduce((total, cost) => total + cost, 0);
}
