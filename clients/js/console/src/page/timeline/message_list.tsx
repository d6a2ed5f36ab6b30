// A list of messages, as in the timeline and in threads, with all that one can do with them.

import type { TimelineItem } from '@smartspace/client';
import { useRuns } from '@smartspace/react';
import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SpaceMembers } from '../../members/space_members.ts';
import { LineView } from './bubble.tsx';
import { linesOf, runOf, seqOf } from './bubbles.ts';
import { EntryView } from './entry.tsx';
import { Hosts } from './hosts.ts';
import type { SystemLine } from './system_lines.ts';
import { useMessageKeys } from './message_keys.ts';

const NO_CHANGES: readonly SystemLine[] = [];

export interface MessageListProps {
  items: readonly TimelineItem[];
  members: SpaceMembers;
  /** What a screen reader calls the list. */
  label: string;
  id?: string;
  /** The element of the list, for its owner. */
  list?: RefObject<HTMLDivElement | null>;
  /** What changed in the space, between the messages. */
  changes?: readonly SystemLine[] | undefined;
  /** The message that is marked. */
  seq?: number | null;
  /** The run whose messages are marked. */
  runId?: string | null;
}

export function MessageList({
  items,
  members,
  label,
  id,
  list,
  seq = null,
  runId = null,
  changes = NO_CHANGES,
}: MessageListProps): JSX.Element {
  const { outcomes, hints, costs } = useRuns();
  const own = useRef<HTMLDivElement>(null);
  const place = list ?? own;
  const [hosts] = useState(() => new Hosts());
  const lines = useMemo(() => linesOf(items, members, changes), [items, members, changes]);
  const entries = lines.flatMap((line) => (line.type === 'bubble' ? line.entries : []));
  useLayoutEffect(() => hosts.keep(new Set(entries.map(({ key }) => key))));
  useMessageKeys(place);
  return (
    <>
      <div
        ref={place}
        id={id}
        role="log"
        aria-live="polite"
        aria-relevant="additions"
        aria-label={label}
      >
        {lines.map((line) => (
          <LineView key={line.key} {...{ line, hosts, hints, costs, members }} />
        ))}
      </div>
      {entries.map((item) => (
        <EntryView
          key={item.key}
          host={hosts.of(item.key)}
          item={item}
          members={members}
          outcomes={item.type === 'message' ? outcomes[item.message.id] : undefined}
          isMarked={
            (seq !== null && seqOf(item) === seq) || (runId !== null && runOf(item) === runId)
          }
        />
      ))}
    </>
  );
}
