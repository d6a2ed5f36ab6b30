// What a run did: how long the model and the tools took, and what it cost.

import type { Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { useNow } from '../page/now.ts';
import { spansOf, type Span } from './spans.ts';
import { costText, durationText } from './words.ts';

export interface WorkProps {
  run: Run;
  isOperator: boolean;
}

/** The work of a run. Only operators see its steps. */
export function Work({ run, isOperator }: WorkProps): JSX.Element {
  const { startedAt, finishedAt, stepCount, usage, error, steps } = run;
  const now = useNow(finishedAt === null);
  const spans = spansOf(run);
  const from = Math.min(...spans.map((span) => span.from), Date.parse(startedAt ?? ''));
  const to = finishedAt === null ? now : Date.parse(finishedAt);
  const tokens = usage.inputTokens + usage.outputTokens;
  const facts = [
    startedAt === null ? 'not started' : durationText(to - Date.parse(startedAt)),
    `${stepCount} ${stepCount === 1 ? 'step' : 'steps'}`,
    `${tokens.toLocaleString()} tokens`,
    costText(usage.cost),
  ];
  const thoughts = (steps ?? []).map(({ text }) => text.trim()).filter((text) => text !== '');
  return (
    <>
      <p class="note">{facts.join(' · ')}</p>
      {error ? <p class="problem">{`${error.message} (${error.code})`}</p> : null}
      <ul class="waterfall" aria-label="Steps and calls">
        {spans.map((span) => (
          <Bar key={span.key} span={span} from={from} to={Math.max(to, from + 1)} now={now} />
        ))}
      </ul>
      {thoughts.map((text, index) => (
        <p key={index} class="thought" dir="auto">
          {`“${text}”`}
        </p>
      ))}
      {run.hints?.map(({ watcher, at, text }) => (
        <p key={`${watcher} ${at}`} class="note" dir="auto">
          {text}
        </p>
      ))}
      {isOperator ? null : <p class="note">Operators also see each step and the prompt.</p>}
    </>
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
  const part = (at: number) => `${(100 * (at - from)) / (to - from)}%`;
  return (
    <li class={`span-${span.kind}`}>
      <span class="bar-name">{span.name}</span>
      <span class="track" aria-hidden="true">
        <span style={{ left: part(span.from), right: `calc(100% - ${part(Math.min(end, to))})` }} />
      </span>
      <span class="bar-time">
        {span.problem ?? (span.to === null ? 'now' : durationText(end - span.from))}
      </span>
    </li>
  );
}
