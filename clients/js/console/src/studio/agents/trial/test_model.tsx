// The form that asks an agent one question and shows its answer.

import type { Entity, Run } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX, TargetedSubmitEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { SenderSelect, type SenderSelectProps } from '../../../members/sender_select.tsx';
import { runHash } from '../../../navigation/address.ts';
import { wordsOf } from '../../../ui/notices.tsx';
import { durationText, usageCost } from '../../../why/words.ts';
import { usePeople } from '../../data/people.ts';
import { answersOf, toolsOf, tryAgent, type TrialOutcome } from './trial.ts';

/** Sends one message to the stored agent and shows the answer. */
export function TestModel({ agent }: { agent: Entity }): JSX.Element {
  const client = useClient();
  const { people, isLoading, error: loadError } = usePeople();
  const [state, setState] = useState<TrialOutcome | 'ready' | 'working' | Error>('ready');
  const work = useRef<AbortController | null>(null);
  useEffect(() => () => work.current?.abort(), []);
  const ask = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (state === 'working') return;
    const fields = new FormData(event.currentTarget);
    const field = (name: string) => String(fields.get(name) ?? '');
    const sent = { text: field('prompt'), senderId: field('sender') };
    const stop = new AbortController();
    work.current = stop;
    setState('working');
    try {
      setState(await tryAgent(client, agent, sent, stop.signal));
    } catch (error) {
      setState(stop.signal.aborted ? 'ready' : (error as Error));
    }
  };
  const isWorking = state === 'working';
  const problem = state instanceof Error ? state : loadError;
  return (
    <form class="save-form" aria-label="Test the model" onSubmit={ask}>
      <div class="field">
        <label for="test-prompt">Message</label>
        <textarea
          id="test-prompt"
          name="prompt"
          rows={2}
          required
          dir="auto"
          aria-describedby="test-note"
        />
        <p id="test-note" class="note">
          Tests the saved configuration in a space of its own, which is deleted afterwards. The
          agent may call its tools and write its memory.
        </p>
      </div>
      {isLoading || loadError || people.length > 0 ? <SenderField people={people} /> : <Nobody />}
      <div class="form-row">
        <button type="submit" class="primary" disabled={isWorking || people.length === 0}>
          Test the model
        </button>
        {isWorking ? (
          <button type="button" onClick={() => work.current?.abort()}>
            Stop
          </button>
        ) : null}
        <span class="note" role="status">
          {isWorking ? 'Waiting for the answer…' : ''}
        </span>
      </div>
      <p class="problem" role="alert">
        {problem ? wordsOf(problem) : ''}
      </p>
      {typeof state === 'object' && 'kind' in state ? <Outcome outcome={state} /> : null}
    </form>
  );
}

const SenderField = ({ people }: Pick<SenderSelectProps, 'people'>) => (
  <div class="field">
    <label for="test-sender">Send as</label>
    <SenderSelect id="test-sender" name="sender" people={people} />
  </div>
);

const Nobody = () => (
  <p class="problem">
    A person has to ask, and there is none. <a href="#/people">Create a person</a> first.
  </p>
);

function Outcome({ outcome }: { outcome: TrialOutcome }) {
  switch (outcome.kind) {
    case 'notWoken':
      return (
        <p class="problem" role="alert">
          The message did not wake the agent: {outcome.why}.
        </p>
      );
    case 'run':
      return <Result run={outcome.run} leftover={outcome.leftover} />;
  }
}

function Result({ run, leftover }: { run: Run; leftover: string | null }) {
  const { usage, startedAt, finishedAt } = run;
  const tools = toolsOf(run);
  const facts = [
    ...(usage
      ? [`${usage.inputTokens} tokens read`, `${usage.outputTokens} written`, usageCost(usage)]
      : []),
    startedAt && finishedAt
      ? durationText(Date.parse(finishedAt) - Date.parse(startedAt))
      : run.status,
  ];
  return (
    <section class="test-result" aria-label="Answer" aria-live="polite">
      {answersOf(run).map(({ label, text }, n) => (
        <div key={n}>
          <p class={run.error ? 'note problem' : 'note'}>{label}</p>
          <p class="test-text" dir="auto">
            {text}
          </p>
        </div>
      ))}
      {tools.length > 0 ? <p class="note">Tools called: {tools.join(', ')}</p> : null}
      <p class="note">
        {facts.join(' · ')} · <a href={runHash(run.id)}>Open the run</a>
      </p>
      {leftover ? <p class="problem">{leftover}</p> : null}
    </section>
  );
}
