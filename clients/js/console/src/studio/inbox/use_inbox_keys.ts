// The keys of the inbox: one row is the current one, and single keys act on it.

import type { InboxItem } from '@smartspace/client';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { openSpace } from '../../navigation/address.ts';
import { focusCard } from '../../navigation/focus_soon.ts';
import { plainKey } from '../../navigation/keys.ts';
import { isSeen, type Deciding, type Written } from './use_deciding.ts';

const WRITTEN: Readonly<Record<string, Written>> = { e: 'edit', r: 'respond', x: 'decline' };
const STEPS: Readonly<Record<string, number>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

/** The current row, and the function that makes another one current. */
export function useInboxKeys(
  items: readonly InboxItem[],
  list: RefObject<HTMLUListElement | null>,
  deciding: Deciding,
): { currentId: string | null; choose: (callId: string) => void } {
  const [chosenId, choose] = useState<string | null>(null);
  const place = usePlace(items, chosenId);
  const current = items[place];
  const focus = (index: number) => rowsIn(list)[index]?.focus();
  useFocusOnNext(items.length, () => focus(place));

  const latest = useRef<(event: KeyboardEvent) => void>(() => {});
  latest.current = (event) => {
    const key = plainKey(event);
    if (key === null || !current) return;
    const step = STEPS[key];
    if (step !== undefined) {
      // The first key shows which row is the current one.
      const isShown = list.current?.contains(document.activeElement) ?? false;
      focus(Math.min(items.length - 1, Math.max(0, place + (isShown ? step : 0))));
    } else if (!act(key, current, deciding, event)) return;
    event.preventDefault();
  };
  // As soon as the rows show.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => latest.current(event);
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return { currentId: current?.callId ?? null, choose };
}

// Whether the key has a meaning for the row.
function act(key: string, item: InboxItem, deciding: Deciding, event: KeyboardEvent) {
  const { target, repeat } = event;
  // A key that is held down decides one call only.
  if (repeat) return false;
  if (deciding.isWriting() && 'aerx'.includes(key)) {
    document.querySelector<HTMLElement>('.decision-text textarea')?.focus();
    return true;
  }
  const isApproval = item.kind === 'approval';
  const isOnRow = target instanceof Element && target.matches('.waiting > li');
  const needsCard = 'ae'.includes(key) && !isSeen(item);
  if (needsCard) openCard(item);
  else if (isApproval && key === 'a') deciding.approve(item);
  else if (isApproval && WRITTEN[key]) deciding.write(item, WRITTEN[key]);
  else if ((key === 'Enter' && isOnRow) || (key === 'a' && !isApproval)) openCard(item);
  else return false;
  return true;
}

function openCard({ spaceId, seq }: InboxItem) {
  openSpace(spaceId, false, seq);
  focusCard(seq);
}

const rowsIn = (list: RefObject<HTMLUListElement | null>) => [
  ...(list.current?.querySelectorAll<HTMLElement>(':scope > li') ?? []),
];

// The place of the chosen row. When that leaves, the row that takes its place is the current one.
function usePlace(items: readonly InboxItem[], chosenId: string | null): number {
  const shown = useRef<{ callId: string | null; place: number }>({ callId: null, place: 0 });
  const placeOf = (id: string | null) => items.findIndex(({ callId }) => callId === id);
  const [chosen, before] = [placeOf(chosenId), placeOf(shown.current.callId)];
  const last = Math.max(0, Math.min(shown.current.place, items.length - 1));
  const place = [chosen, before, last].find((each) => each >= 0) ?? 0;
  // A card that opens above it takes no key that was meant for it.
  shown.current = { callId: items[place]?.callId ?? null, place };
  return place;
}

// Moves the focus to the next row when the one with the focus leaves. It would be lost otherwise.
function useFocusOnNext(count: number, focus: () => void) {
  const before = useRef(count);
  useLayoutEffect(() => {
    const hasLeft = count < before.current;
    before.current = count;
    if (!hasLeft || document.activeElement !== document.body) return;
    if (count > 0) focus();
    else document.querySelector<HTMLElement>('#page-title')?.focus();
  }, [count]);
}
