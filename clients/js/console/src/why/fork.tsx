// Repeats a run with another model or other instructions, as a dry run. Nothing in the
// space changes.

import type { Client, Run, SmartspaceError } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX, TargetedSubmitEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { newKey } from '../api/idempotency_key.ts';
import { entityPath, runPath } from '../api/paths.ts';
import { runHash } from '../navigation/address.ts';
import { wordsOf } from '../ui/notices.tsx';
import { changesOf, callsOf, mayFork, type RunCall } from './run_calls.ts';
import { Section } from './section.tsx';
import { useFork } from './use_fork.ts';
import { durationText, usageCost } from './words.ts';

interface Trial {
  fromStep: number;
  changes: object;
  fork: Run;
}

export interface ForkProps {
  run: Run;
  /** The index of the step that the form offers first. */
  step?: number;
}

/** A form that forks the run, and both outcomes beside each other. */
export function Fork({ run, step }: ForkProps): JSX.Element | null {
  const client = useClient();
  const [trial, setTrial] = useState<Trial | null>(null);
  const [problem, setProblem] = useState('');
  const [isAsking, setIsAsking] = useState(false);
  const key = useRef(newKey());
  const chosen = useRef<HTMLSelectElement>(null);
  useEffect(() => {
    if (!chosen.current || step === undefined) return;
    chosen.current.value = String(step);
    key.current = newKey();
  }, [step]);
  const steps = run.steps ?? [];
  if (!mayFork(run)) return null;

  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const textOf = (name: string) => String(data.get(name) ?? '');
    const fromStep = Number(textOf('fromStep'));
    const input = { fromStep, model: textOf('model'), instructions: textOf('instructions') };
    const changes = changesOf(input);
    if (typeof changes === 'string') return setProblem(changes);
    setProblem('');
    setIsAsking(true);
    try {
      const options = { body: { fromStep, ...changes }, idempotencyKey: key.current, retry: true };
      const path = runPath(run.id, 'fork');
      setTrial({ fromStep, changes, fork: await client.request<Run>('POST', path, options) });
      key.current = newKey();
    } catch (error) {
      if (!(error as SmartspaceError).isTemporary) key.current = newKey();
      setProblem(wordsOf(error));
    }
    setIsAsking(false);
  };

  return (
    <Section title="Try it again">
      <form class="fork" onSubmit={submit} onInput={() => (key.current = newKey())}>
        <label for="fork-step">From step</label>
        <select ref={chosen} id="fork-step" name="fromStep">
          {steps.map(({ index }) => (
            <option key={index} value={index}>
              {index + 1}
            </option>
          ))}
        </select>
        <label for="fork-model">Model</label>
        <input
          id="fork-model"
          name="model"
          placeholder={`the same: ${steps[0]?.model}`}
          autocomplete="off"
        />
        <label for="fork-instructions">Instructions</label>
        <textarea id="fork-instructions" name="instructions" rows={3} placeholder="the same" />
        <p class="note">
          A dry run: it costs what the model costs, and changes nothing. It reads the memories that
          the agent read then.
        </p>
        <p class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary" disabled={isAsking}>
          Fork here
        </button>
      </form>
      {trial ? <Comparison key={trial.fork.id} run={run} trial={trial} client={client} /> : null}
    </Section>
  );
}

interface ComparisonProps {
  run: Run;
  trial: Trial;
  client: Client;
}

function Comparison({ run, trial, client }: ComparisonProps) {
  const { fork, error } = useFork(trial.fork);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    // The outcome makes it longer. If the focus is elsewhere by then, the page stays.
    if (heading.current === document.activeElement) heading.current?.scrollIntoView();
  }, [fork.status]);
  return (
    <>
      <h4 ref={heading} class="comparison-head" tabIndex={-1}>
        {`Dry run from step ${trial.fromStep + 1}`}
      </h4>
      <div class="comparison">
        <Side title="Then" run={run} fromStep={trial.fromStep} />
        <Side title="Now" run={fork} fromStep={trial.fromStep} />
      </div>
      <p class="problem" role="alert">
        {error ?? (fork.error ? `${fork.error.message} (${fork.error.code})` : '')}
      </p>
      <p class="note">
        <a href={runHash(fork.id)}>Open the dry run</a>
      </p>
      {fork.status === 'completed' && Object.keys(trial.changes).length > 0 ? (
        <Keep agentId={run.agentId} changes={trial.changes} client={client} />
      ) : null}
    </>
  );
}

const WORDS: Record<RunCall['kind'], string> = {
  said: 'said',
  silent: 'stayed silent',
  called: 'called',
};

interface SideProps {
  title: string;
  run: Run;
  fromStep: number;
}

function Side({ title, run, fromStep }: SideProps) {
  const { startedAt, finishedAt, usage } = run;
  const isOver = finishedAt !== null && startedAt !== null;
  const facts = isOver
    ? [durationText(Date.parse(finishedAt) - Date.parse(startedAt)), usage && usageCost(usage)]
    : [`${run.status}…`];
  const calls = callsOf(run, fromStep);
  return (
    <section aria-label={title}>
      <h5>{title}</h5>
      {calls.map(({ key, kind, text }) => (
        <p key={key} dir="auto">
          <span class="note">{WORDS[kind]}</span> {text}
        </p>
      ))}
      {calls.length === 0 && isOver ? <p class="note">nothing</p> : null}
      <p class="note">{facts.filter(Boolean).join(' · ')}</p>
    </section>
  );
}

interface KeepProps {
  agentId: string;
  changes: object;
  client: Client;
}

// Writes the changes of the fork to the agent.
function Keep({ agentId, changes, client }: KeepProps) {
  const [state, setState] = useState<'ready' | 'kept' | Error>('ready');
  const keep = async () => {
    try {
      const path = entityPath(agentId);
      await client.request('PATCH', path, { body: { agent: changes }, retry: true });
      setState('kept');
    } catch (error) {
      setState(error as Error);
    }
  };
  return (
    <>
      <button type="button" disabled={state === 'kept'} onClick={keep}>
        {state === 'kept' ? 'Kept' : 'Keep for this agent'}
      </button>
      {state instanceof Error ? (
        <p class="problem" role="alert">
          {wordsOf(state)}
        </p>
      ) : null}
    </>
  );
}
