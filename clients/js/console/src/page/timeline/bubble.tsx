// Bubbles, and the lines between them.

import type { Hint, RunsState } from '@smartspace/client';
import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Avatar } from '../../members/avatar.tsx';
import { timeText } from '../../ui/times.ts';
import { TriggerLine } from '../../message/parent_line.tsx';
import { isolated } from '../../ui/visible.ts';
import { costText, durationText, toModel } from '../../why/words.ts';
import type { SpaceMembers } from '../../members/space_members.ts';
import type { Bubble, Line } from './bubbles.ts';
import { dayText } from './dates.ts';
import { useLater } from '../scripts.ts';
import { arrange, type Hosts } from './hosts.ts';
import type { SystemLine } from './system_lines.ts';

export interface LineProps {
  line: Line;
  /** The nodes of the entries. */
  hosts: Hosts;
  members: Pick<SpaceMembers, 'hueOf' | 'nameOf'>;
  /** The hints that the model of each run has got. */
  hints: RunsState['hints'];
  /** What each run has cost. */
  costs: RunsState['costs'];
}

/** A bubble, the beginning of a day, or the beginning of the unread messages. */
export function LineView({ line, ...props }: LineProps): JSX.Element {
  if (line.type === 'bubble') return <BubbleView bubble={line} {...props} />;
  if (line.type === 'system') return <Change line={line.line} />;
  if (line.type === 'unread') return <p class="line unread">New messages</p>;
  return <DayLine at={line.at} />;
}

function Change({ line }: { line: SystemLine }) {
  const { script: later } = useLater();
  return later && <later.SystemLineView line={line} />;
}

const DayLine = ({ at }: { at: number }) => (
  <p class="line day">
    <time dateTime={new Date(at).toISOString()}>{dayText(at, Date.now())}</time>
  </p>
);

type BubbleProps = Omit<LineProps, 'line'> & { bubble: Bubble };

function BubbleView({ bubble, hosts, members, hints, costs }: BubbleProps) {
  const { sender, runId, at, trigger, isBelowTrigger, entries } = bubble;
  const body = useRef<HTMLDivElement>(null);
  const isAgent = sender.type === 'agent';
  const [first] = entries;
  const isReply = first?.type === 'message' && Boolean(first.message.replyTo);
  const isAnswer = trigger !== null && !isBelowTrigger && !isReply && first?.type !== 'failed';
  const asked = trigger && Date.parse(trigger.createdAt);
  useLayoutEffect(() => {
    const nodes = entries.map(({ key }) => hosts.of(key));
    if (body.current) arrange(body.current, nodes);
  });
  return (
    <article
      class={`bubble ${isAgent ? 'agent' : 'human'} hue-${members.hueOf(sender.id)}`}
      aria-label={isolated(sender.name)}
      data-sender={sender.id}
    >
      <Avatar name={sender.name} isAgent={isAgent} />
      {isAnswer ? <TriggerLine trigger={trigger} nameOf={members.nameOf} /> : null}
      <BubbleHead {...{ sender, at, asked }} cost={runId === null ? undefined : costs?.[runId]} />
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
  /** When the message was sent that it answers. */
  asked: number | null;
  cost: number | undefined;
}

const BubbleHead = memo(function BubbleHead({ sender, at, asked, cost }: BubbleHeadProps) {
  const { name, type, guest } = sender;
  const facts = [
    ...(at === null || asked === null || at < asked ? [] : [durationText(at - asked)]),
    ...(cost === undefined ? [] : [costText(cost)]),
  ];
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
      {facts.length > 0 ? <span class="note">{`· ${facts.join(' · ')}`}</span> : null}
    </header>
  );
});
