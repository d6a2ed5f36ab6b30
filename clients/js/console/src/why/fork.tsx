// Tries what an agent would have done with another model or other instructions. Nothing in the
// space changes.

import type { Client, Run, SmartspaceError } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX, TargetedSubmitEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { newKey } from '../page/keys.ts';
import { wordsOf } from '../page/notices.ts';
import { changesOf, deedsOf, type Deed } from './answers.ts';
import { Section } from './section.tsx';
import { costText, durationText } from './words.ts';

// No event tells how a fork goes on.
const POLL_MS = 500;

interface Trial {
  fromStep: number;
  changes: object;
  fork: Run;
}

/** A form that forks the run, and both outcomes beside each other. */
export function Fork({ run }: { run: Run }): JSX.Element | null {
  const client = useClient();
  const [trial, setTrial] = useState<Trial | null>(null);
  const [problem, setProblem] = useState('');
  const [isAsking, setIsAsking] = useState(false);
  const key = useRef(newKey());
  const steps = run.steps?.length ?? 0;
  if (steps === 0 || run.forkOf) return null;

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
      const path = `/v1/runs/${encodeURIComponent(run.id)}/fork`;
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
        <select id="fork-step" name="fromStep">
          {run.steps!.map(({ index }) => (
            <option key={index} value={index}>
              {index + 1}
            </option>
          ))}
        </select>
        <label for="fork-model">Model</label>
        <input
          id="fork-model"
          name="model"
          placeholder={`the same: ${run.steps![0]!.model}`}
          autocomplete="off"
        />
        <label for="fork-instructions">Instructions</label>
        <textarea id="fork-instructions" name="instructions" rows={3} placeholder="the same" />
        <p class="note">A dry run: it costs what the model costs, and changes nothing.</p>
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
  const { fork, error } = useFork(client, trial.fork);
  return (
    <>
      <div class="comparison">
        <Side title="Then" run={run} fromStep={trial.fromStep} />
        <Side title="Now" run={fork} fromStep={trial.fromStep} />
      </div>
      <p class="problem" role="alert">
        {error ?? (fork.error ? `${fork.error.message} (${fork.error.code})` : '')}
      </p>
      {fork.status === 'completed' && Object.keys(trial.changes).length > 0 ? (
        <Keep agentId={run.agentId} changes={trial.changes} client={client} />
      ) : null}
    </>
  );
}

// The fork, asked for again until it has ended.
function useFork(client: Client, first: Run) {
  const [fork, setFork] = useState(first);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const ask = async () => {
      try {
        const path = `/v1/runs/${encodeURIComponent(first.id)}`;
        const found = await client.request<Run>('GET', path, { signal, retry: true });
        if (signal.aborted) return;
        setFork(found);
        if (found.finishedAt === null) setTimeout(ask, POLL_MS);
      } catch (problem) {
        if (!signal.aborted) setError(wordsOf(problem));
      }
    };
    void ask();
    return () => stop.abort();
  }, [first.id]);
  return { fork, error };
}

const WORDS: Record<Deed['kind'], string> = {
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
  const deeds = deedsOf(run, fromStep);
  return (
    <section aria-label={title}>
      <h4>{title}</h4>
      {deeds.map(({ key, kind, text }) => (
        <p key={key} dir="auto">
          <span class="note">{WORDS[kind]}</span> {text}
        </p>
      ))}
      {deeds.length === 0 && isOver ? <p class="note">nothing</p> : null}
      <p class="note">
        {isOver
          ? `${durationText(Date.parse(finishedAt) - Date.parse(startedAt))} · ${costText(usage.cost)}`
          : `${run.status}…`}
      </p>
    </section>
  );
}

interface KeepProps {
  agentId: string;
  changes: object;
  client: Client;
}

// Writes what was tried to the agent.
function Keep({ agentId, changes, client }: KeepProps) {
  const [state, setState] = useState<'ready' | 'kept' | Error>('ready');
  const keep = async () => {
    try {
      const path = `/v1/entities/${encodeURIComponent(agentId)}`;
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
