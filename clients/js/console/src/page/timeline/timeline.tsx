// The messages of the open space.

import type { TimelineItem } from '@smartspace/client';
import { useTimeline } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import type { SpaceMembers } from '../../members/space_members.ts';
import { useNotify, wordsOf } from '../../ui/notices.tsx';
import { seqOf } from './bubbles.ts';
import { Earlier, type Reading } from './earlier.tsx';
import { LazyFirstScreen } from './lazy_first_screen.tsx';
import { MessageList } from './message_list.tsx';
import { useReachKeys } from './message_keys.ts';
import type { Scroller } from './scroller.ts';
import { Span } from './span.ts';
import type { SystemLine } from './system_lines.ts';

const MOST_PAGES = 20; // How far back a message is looked for.

export interface TimelineProps {
  members: SpaceMembers;
  scroller: Scroller;
  /** The message that the address names. */
  seq: number | null;
  /** The run that the drawer explains. */
  runId: string | null;
}

/** Shows the messages, and keeps the scroll position. */
export function TimelineView({ members, scroller, seq, runId }: TimelineProps): JSX.Element {
  const timeline = useTimeline();
  const { items, hasOlder, isLoading } = timeline;
  // An older client has none.
  const { lines: changes } = timeline as { lines?: readonly SystemLine[] };
  const [span] = useState(() => new Span());
  const [isAway, setIsAway] = useState(false);
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const log = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const newest = span.of(items, !scroller.followsEnd);
  const shown = useMemo(() => newest, [items, span.start]);
  // The lines below this one change after this call.
  const before = scroller.before();

  useLayoutEffect(() => {
    scroller.onAway = setIsAway;
    scroller.onEndSeen = () => void members.space.markRead().catch(() => {});
    if (log.current && list.current) return scroller.attach(log.current, list.current);
  }, [scroller, members.space]);
  useLayoutEffect(() => scroller.after(before, span.isPrepended));
  useReachKeys(list);
  useOpening({ timeline, members, scroller, seq, span, redraw, list });

  const toEnd = () => {
    span.reset();
    scroller.toEnd();
    redraw();
  };
  const isEmpty = shown.length === 0;
  return (
    <div class="log-frame">
      <div ref={log} id="log" class="log" tabIndex={0} role="region" aria-label="Timeline">
        <Earlier {...{ timeline, scroller, span, redraw, log, isAway }} />
        <div id="empty" class="empty" hidden={!isEmpty || hasOlder || isLoading}>
          {isEmpty && !hasOlder && !isLoading ? <LazyFirstScreen members={members} /> : null}
        </div>
        {isEmpty && isLoading ? (
          <p class="skeleton" role="status">
            <span class="unseen">The messages are being loaded.</span>
          </p>
        ) : null}
        <MessageList
          id="bubbles"
          label="Messages"
          items={shown}
          {...{ members, list, seq, runId, changes }}
        />
      </div>
      <button type="button" id="latest" class="latest" hidden={!isAway} onClick={toEnd}>
        Go to the latest
      </button>
    </div>
  );
}

interface Opening extends Reading {
  members: SpaceMembers;
  seq: number | null;
  list: { readonly current: HTMLElement | null };
}

// Opens the space once its messages are loaded, and goes to the message that the address names.
function useOpening({ timeline, members, scroller, seq, span, redraw, list }: Opening) {
  const notify = useNotify();
  const isOpen = useRef(false);
  const wanted = useRef<number | null>(null);
  // A space that is not loaded yet may show its last message.
  const hasLoaded = useRef(false);
  hasLoaded.current ||= !timeline.isLoading;
  const isReady = hasLoaded.current;
  const open = () => {
    isOpen.current = true;
    const unread = hasNews(members, timeline.items) && list.current?.querySelector('.unread');
    scroller.open(unread || null);
  };

  useLayoutEffect(() => {
    if (isReady && !isOpen.current && seq === null) open();
    const node = wanted.current && list.current?.querySelector(`[data-seq="${wanted.current}"]`);
    if (!node) return;
    wanted.current = null;
    isOpen.current = true;
    scroller.goTo(node);
  });

  useEffect(() => {
    if (seq === null || !isReady) return;
    let isOver = false;
    const found = ({ items, index }: Found) => {
      if (isOver) return;
      scroller.followsEnd = false;
      if (index >= 0) {
        span.include(items, index);
        wanted.current = seq;
        return redraw();
      }
      notify(`Message ${seq} is not here, or it is too far back.`);
      if (!isOpen.current) open();
    };
    find(members, seq).then(found, (error) => isOver || notify(wordsOf(error)));
    return () => void (isOver = true);
  }, [seq, isReady]);
}

interface Found {
  items: readonly TimelineItem[];
  index: number;
}

// Loads older messages until the one with this seq is there.
async function find({ space }: SpaceMembers, seq: number): Promise<Found> {
  for (let pages = 0; ; pages += 1) {
    const { items, hasOlder } = space.timeline.getSnapshot();
    const index = items.findIndex((item) => seqOf(item) === seq);
    const isPassed = items.some((item) => (seqOf(item) ?? Infinity) < seq);
    if (index >= 0 || isPassed || !hasOlder || pages === MOST_PAGES) return { items, index };
    await space.loadOlder();
  }
}

// The unread line may be from an earlier visit.
function hasNews({ space, meId }: SpaceMembers, items: readonly TimelineItem[]) {
  const { members = [], looked } = space.getSnapshot().space ?? {};
  // How far the operator has read is beside the members.
  const me = members.find(({ id }) => id === meId);
  const read = (meId === null ? looked?.seq : me?.readSeq) ?? Infinity;
  return items.some((item) => (seqOf(item) ?? 0) > read);
}
