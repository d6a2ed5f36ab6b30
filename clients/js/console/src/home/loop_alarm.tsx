// The cards about agents that answer each other without an end, until that is stopped.

import { useSpaces } from '@smartspace/react';
import type { JSX } from 'preact';
import { hashOf } from '../navigation/address.ts';
import { inARow } from '../why/words.ts';
import type { Loop } from './loops.ts';
import { StopSpace } from './stop_space.tsx';
import { useLoops } from './use_loops.ts';
import { useNamed, type Named } from './use_named.ts';

export function LoopAlarm(): JSX.Element | null {
  const { spaces } = useSpaces();
  const loops = useLoops((id) => spaces.some((space) => space.id === id && space.paused));
  const named = useNamed();
  if (loops.length === 0) return null;
  return (
    <div class="alarms">
      {loops.map((loop) => (
        <Card key={loop.chainId} {...{ loop, named }} />
      ))}
    </div>
  );
}

function Card({ loop, named }: { loop: Loop; named: Named }) {
  const { chainId, spaceId, agentIds, runs, depth } = loop;
  const names = agentIds.map((id) => named.agent(spaceId, id));
  const who = new Intl.ListFormat('en').format(names);
  return (
    <section class="alarm" aria-labelledby={`loop-${chainId}`}>
      <h2 id={`loop-${chainId}`}>
        {names.length > 1 ? `${who} answer each other` : `${who} answers itself`}
      </h2>
      <p>{`${runs} runs in a minute in ${named.space(spaceId)}, ${inARow(depth)}.`}</p>
      <div class="ask-row">
        <StopSpace spaceId={spaceId}>{`Stop all and pause ${named.space(spaceId)}`}</StopSpace>
        <a class="button" href={hashOf(spaceId)}>
          Look
        </a>
      </div>
    </section>
  );
}
