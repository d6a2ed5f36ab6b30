// The runs of a chain as a waterfall: each below the run that woke it, on one axis of time.

import type { JSX } from 'preact';
import { openWhy } from '../navigation/address.ts';
import { useNow } from '../ui/now.ts';
import { chainSpans } from './chain_spans.ts';
import type { ChainNode } from './chain_tree.ts';
import { TimeAxis } from './time_axis.tsx';
import { durationText } from './words.ts';

export interface ChainBarsProps {
  tree: ChainNode;
  /** The run that the drawer explains. */
  runId: string;
  nameOf: (id: string) => string;
}

/** The waterfall. Nothing for a chain of one run, whose work has a waterfall of its own. */
export function ChainBars({ tree, runId, nameOf }: ChainBarsProps): JSX.Element | null {
  const spans = chainSpans(tree);
  const now = useNow(spans.some(({ to }) => to === null));
  if (spans.length < 2) return null;
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(from + 1, ...spans.map((span) => span.to ?? now));
  const place = (at: number) => `${(100 * (Math.min(at, to) - from)) / (to - from)}%`;
  return (
    <>
      <TimeAxis length={to - from} />
      <ul class="waterfall chain-bars" aria-label="Runs of the chain by time">
        {spans.map((span) => {
          const end = span.to ?? now;
          return (
            <li key={span.runId} data-status={span.status}>
              <button
                type="button"
                class="bar"
                aria-current={span.runId === runId ? 'true' : undefined}
                onClick={() => openWhy(span.runId, 'chain')}
              >
                <span
                  class="bar-name"
                  style={{ paddingInlineStart: `${Math.min(span.level, 6) * 0.5}rem` }}
                >
                  {nameOf(span.agentId)}
                </span>{' '}
                <span class="track" aria-hidden="true">
                  <span style={{ left: place(span.from), right: `calc(100% - ${place(end)})` }} />
                </span>
                <span class="bar-time">
                  {span.to === null ? 'now' : durationText(end - span.from)}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
