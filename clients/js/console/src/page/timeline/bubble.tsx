// Bubbles, and the lines between them.

import type { Hint, RunsState } from '@smartspace/client';
import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Avatar } from '../../members/avatar.tsx';
import { timeText } from '../../ui/times.ts';
import { toModel } from '../../why/words.ts';
import type { Bubble, Line } from './bubbles.ts';
import { dayText } from './dates.ts';
import { arrange, type Hosts } from './hosts.ts';

export interface LineProps {
  line: Line;
  /** The nodes of the entries. */
  hosts: Hosts;
  hueOf: (id: string) => number;
  /** The hints that the model of each run has got. */
  hints: RunsState['hints'];
}

/** A bubble, the beginning of a day, or the beginning of the unread messages. */
export function LineView({ line, hosts, hueOf, hints }: LineProps): JSX.Element {
  if (line.type === 'bubble') return <BubbleView bubble={line} {...{ hosts, hueOf, hints }} />;
  if (line.type === 'unread') return <p class="line unread">New messages</p>;
  return <DayLine at={line.at} />;
}

const DayLine = ({ at }: { at: number }) => (
  <p class="line day">
    <time dateTime={new Date(at).toISOString()}>{dayText(at, Date.now())}</time>
  </p>
);

type BubbleProps = Omit<LineProps, 'line'> & { bubble: Bubble };

function BubbleView({ bubble, hosts, hueOf, hints }: BubbleProps) {
  const { sender, runId, at, entries } = bubble;
  const body = useRef<HTMLDivElement>(null);
  const isAgent = sender.type === 'agent';
  useLayoutEffect(() => {
    const nodes = entries.map(({ key }) => hosts.of(key));
    if (body.current) arrange(body.current, nodes);
  });
  return (
    <article
      class={`bubble ${isAgent ? 'agent' : 'human'} hue-${hueOf(sender.id)}`}
      data-sender={sender.id}
    >
      <Avatar name={sender.name} isAgent={isAgent} />
      <BubbleHead {...{ sender, at }} />
      <div ref={body} class="entries" />
      {runId === null ? null : <Hints hints={hints[runId]} />}
    </article>
  );
}

// The newest hint that the model has got.
function Hints({ hints }: { hints: readonly Hint[] | undefined }) {
  const last = hints?.at(-1);
  return last ? (
    <p class="note system" dir="auto">
      {toModel(last)}
    </p>
  ) : null;
}

interface BubbleHeadProps extends Pick<Bubble, 'at'> {
  sender: Bubble['sender'] & { guest?: boolean };
}

const BubbleHead = memo(function BubbleHead({ sender, at }: BubbleHeadProps) {
  const { name, type, guest } = sender;
  return (
    <header>
      <strong class="name" dir="auto">
        {name}
      </strong>
      {type === 'agent' ? <span class="badge">agent</span> : null}
      {guest ? <span class="badge">(guest)</span> : null}
      {at === null ? (
        <time>now</time>
      ) : (
        <time dateTime={new Date(at).toISOString()}>{timeText(at)}</time>
      )}
    </header>
  );
});
