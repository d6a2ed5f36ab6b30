// Bubbles, and the lines between them.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { timeText } from '../forms/times.ts';
import type { Bubble, Line } from './bubbles.ts';
import { dayText } from './dates.ts';
import { arrange, type Hosts } from './hosts.ts';

const HUES = 6;

export interface LineProps {
  line: Line;
  /** The nodes of the entries. */
  hosts: Hosts;
}

/** A bubble, the beginning of a day, or the beginning of the unread messages. */
export function LineView({ line, hosts }: LineProps): JSX.Element {
  if (line.type === 'bubble') return <BubbleView bubble={line} hosts={hosts} />;
  if (line.type === 'unread') return <p class="line unread">New messages</p>;
  return <DayLine at={line.at} />;
}

const DayLine = ({ at }: { at: number }) => (
  <p class="line day">
    <time dateTime={new Date(at).toISOString()}>{dayText(at, Date.now())}</time>
  </p>
);

function BubbleView({ bubble, hosts }: { bubble: Bubble; hosts: Hosts }) {
  const { sender, at, entries } = bubble;
  const body = useRef<HTMLDivElement>(null);
  const isAgent = sender.type === 'agent';
  useLayoutEffect(() =>
    arrange(
      body.current!,
      entries.map(({ key }) => hosts.of(key)),
    ),
  );
  return (
    <article class={`bubble ${isAgent ? 'agent' : 'human'} hue-${hueOf(sender.id)}`}>
      <BubbleHead name={sender.name} isAgent={isAgent} at={at} />
      <div ref={body} class="entries" />
    </article>
  );
}

interface BubbleHeadProps {
  name: string;
  isAgent: boolean;
  at: number | null;
}

const BubbleHead = memo(function BubbleHead({ name, isAgent, at }: BubbleHeadProps) {
  return (
    <header>
      <strong class="name" dir="auto">
        {name}
      </strong>
      <span class="badge">{isAgent ? 'agent' : 'person'}</span>
      {at === null ? (
        <time>now</time>
      ) : (
        <time dateTime={new Date(at).toISOString()}>{timeText(at)}</time>
      )}
    </header>
  );
});

// An entity has the same color everywhere. A color never carries information that the words do not.
function hueOf(id: string) {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.codePointAt(0)!) % 9973;
  return sum % HUES;
}
