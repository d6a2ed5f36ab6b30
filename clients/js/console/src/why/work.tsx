// The work of a run: the durations of the model and the tools, and its error.

import type { LiveStep, Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { useNow } from '../ui/now.ts';
import { Failure } from './failure.tsx';
import { Section } from './section.tsx';
import { spansOf } from './spans.ts';
import { Waterfall } from './waterfall.tsx';
import { factsOf, forOperators, isWaiting, toModel } from './words.ts';

export interface WorkProps {
  run: Run;
  /** The step under way, as the last frame says. */
  step: LiveStep | null;
  isOperator: boolean;
}

/** The work of a run. Only operators see its steps. */
export function Work({ run, step, isOperator }: WorkProps): JSX.Element {
  const { finishedAt, steps } = run;
  const now = useNow(finishedAt === null);
  const thoughts = (steps ?? []).map(({ text }) => text.trim()).filter((text) => text !== '');
  return (
    <Section title="What it did" about={factsOf(run, now).join(' · ')}>
      <Failure run={run} isOperator={isOperator} />
      {isWaiting(run, step) ? <p class="note">It is waiting for the model.</p> : null}
      <Waterfall run={run} spans={spansOf(run)} now={now} />
      {thoughts.map((text, index) => (
        <p key={index} class="thought" dir="auto">
          {`“${text}”`}
        </p>
      ))}
      {run.hints?.map((hint) => (
        <p key={`${hint.watcher} ${hint.at}`} class="note" dir="auto">
          {toModel(hint)}
        </p>
      ))}
      {isOperator ? null : <p class="note">{forOperators(run)}</p>}
    </Section>
  );
}
