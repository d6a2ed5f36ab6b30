// The chain that a run belongs to: a message wakes runs, their messages wake more, until it ends.

import type { Run } from '@smartspace/client';
import { useClient, useMe, useSpace, useTimeline } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { cancelChain } from '../api/chains.ts';
import type { SpaceMembers } from '../members/space_members.ts';
import { hashOf, open, openWhy } from '../navigation/address.ts';
import { useNotify, wordsOf } from '../ui/notices.tsx';
import { senderName } from '../ui/visible.ts';
import { useSpaceRuns } from './chain_runs.ts';
import {
  depthOf,
  nodesOf,
  startOf,
  treeOf,
  type ChainNode,
  type MessageNode,
  type RunNode,
} from './chain_tree.ts';
import { ChainBars } from './chain_bars.tsx';
import { endingsOf, firstWords, isGoing, nobodyWords, runWords } from './chain_words.ts';
import { byRefusal } from './outcomes.ts';
import { Section } from './section.tsx';
import { Trigger } from './trigger.tsx';
import { costText, inARow, usageCost } from './words.ts';

const MOST_PAGES = 5; // How far back the start of the chain is looked for.

export interface ChainProps {
  run: Run;
  members: SpaceMembers;
}

/** The tree of the chain, and where it ended and why. */
export function Chain({ run, members }: ChainProps): JSX.Element {
  const { items, hasOlder, isLoading, loadOlder } = useTimeline();
  const notify = useNotify();
  const pages = useRef(0);
  const messages = useMemo(
    () => items.flatMap((item) => (item.type === 'message' ? [item.message] : [])),
    [items],
  );
  const { runs, error } = useSpaceRuns(members.space.id, messages[0]?.createdAt);
  const data = useMemo(
    // A run of a plan is not in the list of its space.
    () => ({ messages, runs: new Map(runs ?? []).set(run.id, runs?.get(run.id) ?? run) }),
    [messages, runs, run],
  );
  const start = startOf(data, run.id);
  const isMissing = 'isMissing' in start && start.isMissing;
  const isSearching = isMissing && hasOlder && pages.current < MOST_PAGES;
  useEffect(() => {
    if (!isSearching || isLoading) return;
    pages.current += 1;
    loadOlder().catch((problem) => notify(wordsOf(problem)));
  }, [isSearching, isLoading, messages.length]);

  if (error && !runs)
    return (
      <p class="problem" role="alert">
        {wordsOf(error)}
      </p>
    );
  if (!runs || isSearching) return <p class="empty">Loading…</p>;
  const tree = treeOf(data, start);
  return (
    <>
      <Endings tree={tree} members={members} />
      {isGoing(tree) ? <StopChain run={run} /> : null}
      <Section title="The chain">
        {isMissing ? (
          <p class="note">It began in another space, or with a message that is too old to show.</p>
        ) : null}
        <ChainBars tree={tree} runId={run.id} nameOf={members.nameOf} />
        {'runId' in start && start.runId === run.id ? (
          <Trigger run={run} nameOf={members.nameOf} />
        ) : null}
        <ul class="chain" aria-label="Messages and runs">
          <Node node={tree} members={members} runId={run.id} />
        </ul>
      </Section>
    </>
  );
}

// Not for guests, whom the server would refuse.
function StopChain({ run }: { run: Run }) {
  const client = useClient();
  const notify = useNotify();
  const { me } = useMe();
  const [isBusy, setIsBusy] = useState(false);
  if (me?.entity?.guestOf || !('seq' in run.trigger)) return null;
  const stop = () => {
    setIsBusy(true);
    cancelChain(client, run)
      .catch((problem) => notify(wordsOf(problem)))
      .finally(() => setIsBusy(false));
  };
  return (
    <button type="button" class="danger stop-chain" disabled={isBusy} onClick={stop}>
      Stop chain
    </button>
  );
}

function Endings({ tree, members }: { tree: ChainNode; members: SpaceMembers }) {
  const { space } = useSpace();
  const nodes = nodesOf(tree);
  const runs = nodes.filter(({ type }) => type === 'run').length;
  const posted = nodes.length - runs;
  const deepest = Math.max(0, ...nodes.map((node) => depthOf(node) ?? 0));
  const facts = [
    `${posted} ${posted === 1 ? 'message' : 'messages'}`,
    `${runs} ${runs === 1 ? 'run' : 'runs'}`,
    `${inARow(deepest, space?.maxChainDepth)} (depth)`,
    // Only operators and owners know costs.
    ...(members.isOperator || tree.cost !== null ? [costText(tree.cost)] : []),
  ];
  const going = isGoing(tree);
  return (
    <Section title={going ? 'Where it is now' : 'Where it ended'} about={facts.join(' · ')}>
      <ul class="endings" aria-label="Ends of the chain">
        {endingsOf(tree, members.isOperator).map(({ words, agentIds }) => (
          <li key={words} dir="auto">
            <strong>{agentIds.map(members.nameOf).join(', ')}</strong> {words}
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface NodeProps<Kind extends ChainNode> {
  node: Kind;
  members: SpaceMembers;
  /** The run that the drawer explains. */
  runId: string;
}

const Node = (props: NodeProps<ChainNode>) => {
  const { node, members, runId } = props;
  return (
    <li>
      {node.type === 'message' ? (
        <MessageLine node={node} members={members} runId={runId} />
      ) : (
        <RunLine node={node} members={members} runId={runId} />
      )}
      {node.children.length > 0 ? (
        <ul>
          {node.children.map((child) => (
            <Node
              key={child.type === 'message' ? child.message.id : child.runId}
              node={child}
              members={members}
              runId={runId}
            />
          ))}
        </ul>
      ) : null}
    </li>
  );
};

function MessageLine({ node, members, runId }: NodeProps<MessageNode>) {
  const { message, refused } = node;
  const { chainDepth: depth } = message;
  const name = senderName(message.sender, members.nameOf);
  // In a narrow window the drawer would hide the message.
  const show = () => {
    const isCovering = matchMedia('(max-width: 60rem)').matches;
    const why = isCovering ? '' : `?why=${encodeURIComponent(runId)}&tab=chain`;
    open(hashOf(message.spaceId, message.seq) + why);
  };
  const nobody = nobodyWords(node);
  const groups = byRefusal(
    (refused ?? []).map(({ agentId, reason, reasonText }) => ({
      agentId,
      reason: reasonText ?? reason ?? null,
    })),
  );
  return (
    <div class="chain-message">
      <button type="button" class="link" onClick={show} dir="auto">
        <strong>{name}</strong> {firstWords(message)}
      </button>
      <p class="note">
        {[`#${message.seq}`, depth > 0 ? `answer ${depth} in a row` : null, sumText(node)]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {nobody === null ? null : <p class="note">{nobody}</p>}
      {[...groups].map(([words, agentIds]) => (
        <p key={words} class="note" dir="auto">
          {`not ${agentIds.map(members.nameOf).join(', ')}: ${words}`}
        </p>
      ))}
    </div>
  );
}

function RunLine({ node, members, runId }: NodeProps<RunNode>) {
  const { run, agentId } = node;
  const isThis = node.runId === runId;
  const facts = [
    run && run.chainDepth > 0 ? `after ${inARow(run.chainDepth)}` : null,
    run?.usage && !run.remote ? usageCost(run.usage) : null,
    node.cost === (run?.usage?.cost ?? null) ? null : sumText(node),
  ];
  return (
    <div class="chain-run" data-status={run?.status} aria-current={isThis ? 'true' : undefined}>
      <button type="button" class="link" onClick={() => openWhy(node.runId)} dir="auto">
        <strong>{members.nameOf(agentId)}</strong> {runWords(node, members.isOperator)}
      </button>
      <p class="note">{facts.filter(Boolean).join(' · ')}</p>
    </div>
  );
}

const sumText = ({ cost }: ChainNode) =>
  cost === null ? null : `${costText(cost)} with all below`;
