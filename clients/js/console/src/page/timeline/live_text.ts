// The texts that agents are writing. They are shown together, at a pace that leaves the time
// between to the person: laying out long texts takes longer than a key may.

import type { Space } from '@smartspace/client';
import { useSyncExternalStore } from 'preact/compat';
import { useMemo } from 'preact/hooks';

const PACE_MS = 50;
const PACE_WHILE_TYPING_MS = 250;
/** How long after a key somebody still counts as typing. */
const TYPING_MS = 1000;

const waiting = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
let shownAt = -Infinity;
let typedAt = -Infinity;

addEventListener('keydown', () => (typedAt = Date.now()), { capture: true });

function show() {
  timer = undefined;
  shownAt = Date.now();
  const due = [...waiting];
  waiting.clear();
  due.forEach((listener) => listener());
}

/** Calls it with the others that wait. */
export function showSoon(listener: () => void) {
  waiting.add(listener);
  const now = Date.now();
  const pace = now - typedAt < TYPING_MS ? PACE_WHILE_TYPING_MS : PACE_MS;
  timer ??= setTimeout(show, Math.max(0, shownAt + pace - now));
}

/** The text of a stream, as far as it is to be shown. */
export function useLiveText(space: Space, streamId: string): string {
  const { subscribe, getSnapshot } = useMemo(() => {
    const store = space.stream(streamId);
    return {
      getSnapshot: () => store.getSnapshot().text,
      subscribe(listener: () => void) {
        const own = () => showSoon(listener);
        const leave = store.subscribe(own);
        return () => {
          waiting.delete(listener);
          leave();
        };
      },
    };
  }, [space, streamId]);
  return useSyncExternalStore(subscribe, getSnapshot);
}
