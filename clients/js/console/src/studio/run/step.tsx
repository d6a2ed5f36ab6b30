// One step of a run: the prompt, the model's answer, and its calls.

import type { LiveStep, Run, Step } from '@smartspace/client';
import type { ComponentChildren, JSX } from 'preact';
import { thoughtsOf } from '../../why/thinking.ts';
import { durationText, isWaiting, usageCost } from '../../why/words.ts';
import { Part } from '../frame/page.tsx';
import { tokensText } from './facts.tsx';
import { JsonView } from './json_view.tsx';
import { StepPrompt } from './step_prompt.tsx';

export interface StepViewProps {
  run: Run;
  step: Step;
  /** The step under way, as the last frame says. */
  live: LiveStep | null;
  onSelect: (index: number) => void;
  /** The form that forks the run here. */
  fork: ComponentChildren;
}

/** The selected step. */
export function StepView({ run, step, live, onSelect, fork }: StepViewProps): JSX.Element {
  const steps = run.steps ?? [];
  const at = steps.findIndex(({ index }) => index === step.index);
  const last = steps.at(-1) ?? step;
  const go = (title: string, to: Step | undefined) => (
    <button type="button" disabled={!to} onClick={() => to && onSelect(to.index)}>
      {title}
    </button>
  );
  return (
    <Part title={`Step ${step.index + 1} of ${last.index + 1}`}>
      <div class="step-head">
        <p class="note">{factsOf(step).join(' · ')}</p>
        {go('Previous step', steps[at - 1])}
        {go('Next step', steps[at + 1])}
      </div>
      {step.partial ? (
        <p class="problem">The run was stopped while the model wrote this. The text ends there.</p>
      ) : null}
      <StepPrompt run={run} step={step} />
      <Tools names={step.tools ?? []} />
      {step.thinking === undefined ? null : <Thinking thinking={step.thinking} />}
      <section class="step-part" aria-label="Answer">
        <h3>Answer</h3>
        {step.text.trim() === '' ? (
          <p class="note">{step.finishedAt === null ? workWords(run, live) : 'No text.'}</p>
        ) : (
          <p class="step-text" dir="auto">
            {step.text}
          </p>
        )}
        {step.text.trim() === '' ? null : <p class="note">Private: it is posted nowhere.</p>}
      </section>
      {step.calls.length > 0 ? (
        <section class="step-part" aria-label="Calls">
          <h3>Calls</h3>
          {run.forkOf ? (
            <p class="note">
              Replayed: the results are those of the other run, or made up. Nothing was done.
            </p>
          ) : null}
          {step.calls.map((call) => (
            <CallView key={call.callId} call={call} />
          ))}
        </section>
      ) : null}
      {fork}
    </Part>
  );
}

const workWords = (run: Run, live: LiveStep | null) =>
  isWaiting(run, live)
    ? 'Waiting for the model: its server has no free place.'
    : 'The model is at work.';

function Thinking({ thinking }: { thinking: unknown }) {
  const text = thoughtsOf(thinking);
  return (
    <section class="step-part" aria-label="Thinking">
      <h3>Thinking</h3>
      {text === '' ? (
        <p class="note">The provider sent it encrypted.</p>
      ) : (
        <p class="step-text thinking" role="group" tabIndex={0} aria-label="Thinking" dir="auto">
          {text}
        </p>
      )}
      <p class="note">Only operators see it.</p>
    </section>
  );
}

const FINISH: Record<NonNullable<Step['finishReason']>, string> = {
  tool_calls: 'called tools',
  stop: 'had nothing more to do',
  length: 'reached its limit of tokens',
  refusal: 'refused to answer',
  pause: 'paused, and was asked again',
  error: 'failed',
};

function factsOf(step: Step): string[] {
  const { model, attempt, startedAt, firstTokenAt, finishedAt, finishReason, usage } = step;
  const since = (at: string) => durationText(Date.parse(at) - Date.parse(startedAt));
  const { cutResults } = step;
  return [
    model,
    attempt > 1 ? `attempt ${attempt}` : '',
    finishReason ? FINISH[finishReason] : '',
    finishedAt ? since(finishedAt) : 'under way',
    firstTokenAt ? `first words after ${since(firstTokenAt)}` : '',
    finishedAt ? tokensText(usage) : '',
    finishedAt ? usageCost(usage) : '',
    cutResults ? `${cutResults} old results cut` : '',
  ].filter((text) => text !== '');
}

const Tools = ({ names }: { names: readonly string[] }) =>
  names.length > 0 ? (
    <section class="step-part" aria-label="Tools offered">
      <h3>Tools offered</h3>
      <ul class="tool-names">
        {names.map((name) => (
          <li key={name} class="badge">
            {name}
          </li>
        ))}
      </ul>
    </section>
  ) : null;

const CALL_WORDS: Record<Step['calls'][number]['status'], string> = {
  pending: 'no result yet',
  completed: 'completed',
  failed: 'failed',
  expired: 'nobody answered in time',
  canceled: 'the run ended first',
  unknown: 'its process died, so the outcome is not known',
};

function CallView({ call }: { call: Step['calls'][number] }) {
  const { callId, name, input, output, status, startedAt, finishedAt } = call;
  const length = startedAt && finishedAt ? Date.parse(finishedAt) - Date.parse(startedAt) : null;
  const words = [CALL_WORDS[status], length === null ? '' : durationText(length)];
  const isWrong = !['pending', 'completed'].includes(status);
  return (
    <article class="call" aria-labelledby={callId}>
      <h4 id={callId}>{name}</h4>
      <p class={isWrong ? 'problem' : 'note'}>{words.filter((word) => word !== '').join(' · ')}</p>
      <JsonView title="Input" value={input} />
      {output === null || output === undefined ? null : <JsonView title="Output" value={output} />}
    </article>
  );
}
