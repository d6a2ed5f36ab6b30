// Earlier messages: they load when the reader comes near the top, or with a button.

import type { Timeline } from '@smartspace/react';
import type { JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { wordsOf } from '../../ui/notices.tsx';
import type { Scroller } from './scroller.ts';
import type { Span } from './span.ts';

// They load this far above the window, so that most readers don't wait.
const AHEAD = '600px';

/** What reading a timeline needs. */
export interface Reading {
  timeline: Timeline;
  scroller: Scroller;
  span: Span;
  redraw: () => void;
}

interface EarlierProps extends Reading {
  log: RefObject<HTMLDivElement | null>;
  /** Whether the reader has left the end. */
  isAway: boolean;
}

/** The button, and why the last attempt failed. */
export function Earlier({ log, isAway, ...reading }: EarlierProps): JSX.Element {
  const { items, hasOlder, isLoading } = reading.timeline;
  const { start } = reading.span;
  const { show, problem } = useEarlier(reading);
  const button = useRef<HTMLButtonElement>(null);
  const hasEarlier = start > 0 || (hasOlder && !(isLoading && items.length === 0));
  // After a failure only the button tries again.
  const isByItself = hasEarlier && isAway && !isLoading && problem === '';
  useEffect(() => {
    if (!isByItself || !button.current) return;
    const observer = new IntersectionObserver(
      (seen) => {
        if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        void show();
      },
      { root: log.current, rootMargin: `${AHEAD} 0px 0px` },
    );
    observer.observe(button.current);
    return () => observer.disconnect();
    // A page may leave the button near the window, which is no news for an observer.
  }, [isByItself, start, items]);
  return (
    <div id="earlier" hidden={!hasEarlier}>
      <button ref={button} type="button" class="quiet" disabled={isLoading} onClick={show}>
        Show earlier
      </button>
      <p class="problem" role="alert" dir="auto">
        {problem}
      </p>
    </div>
  );
}

// Shows more of the loaded messages, or loads a page of older ones.
function useEarlier({ timeline, scroller, span, redraw }: Reading) {
  const [problem, setProblem] = useState('');
  const show = async () => {
    setProblem('');
    scroller.followsEnd = false;
    if (span.start > 0) {
      span.extend(timeline.items);
      return redraw();
    }
    span.expectOlder(timeline.items);
    await timeline.loadOlder().catch((error) => setProblem(wordsOf(error)));
  };
  return { show, problem };
}
