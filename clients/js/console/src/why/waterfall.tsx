// The spans of a run below each other, each as a bar on a common axis of time.

import type { Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { QUEUE, type Span } from './spans.ts';
import { TimeAxis } from './time_axis.tsx';
import { durationText } from './words.ts';

export interface WaterfallProps {
  run: Run;
  spans: readonly Span[];
  now: number;
  /** The index of the selected step. */
  selected?: number;
  /** Makes each bar a button that selects its step. */
  onSelect?: (step: number) => void;
}

export function Waterfall({ run, spans, now, selected, onSelect }: WaterfallProps): JSX.Element {
  const { startedAt, finishedAt } = run;
  const from = Math.min(...spans.map((span) => span.from), Date.parse(startedAt ?? run.createdAt));
  const to = Math.max(finishedAt === null ? now : Date.parse(finishedAt), from + 1);
  return (
    <>
      {spans.length > 0 ? <TimeAxis length={to - from} /> : null}
      <Bars {...{ spans, from, to, now, selected, onSelect }} />
    </>
  );
}

interface BarsProps extends Omit<WaterfallProps, 'run' | 'selected' | 'onSelect'> {
  from: number;
  to: number;
  selected: number | undefined;
  onSelect: ((step: number) => void) | undefined;
}

function Bars({ spans, from, to, now, selected, onSelect }: BarsProps) {
  return (
    <ul class="waterfall" aria-label="Steps and calls">
      {spans.map((span) => {
        const bar = <Bar span={span} from={from} to={to} now={now} />;
        const isCurrent = span.step === selected && span.key !== QUEUE;
        return (
          <li key={span.key} class={`span-${span.kind}`}>
            {onSelect ? (
              <button
                type="button"
                class="bar"
                aria-current={isCurrent ? 'step' : undefined}
                onClick={() => onSelect(span.step)}
              >
                {bar}
              </button>
            ) : (
              <div class="bar">{bar}</div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

interface BarProps {
  span: Span;
  /** The first and the last moment of the waterfall. */
  from: number;
  to: number;
  now: number;
}

function Bar({ span, from, to, now }: BarProps) {
  const end = span.to ?? now;
  const part = (at: number) =>
    `${(100 * (Math.min(Math.max(at, from), to) - from)) / (to - from)}%`;
  return (
    <>
      <span class="bar-name">{span.name}</span>{' '}
      <span class="track" aria-hidden="true">
        <span style={{ left: part(span.from), right: `calc(100% - ${part(end)})` }} />
      </span>
      <span class="bar-time">
        {span.problem ?? (span.to === null ? 'now' : durationText(end - span.from))}
      </span>
    </>
  );
}
