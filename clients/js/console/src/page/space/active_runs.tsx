// The runs that are active now, each with a button that stops it.

import type { ActiveRun } from '@smartspace/client';
import { useClient, useRuns, useTimeline } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useNotify, wordsOf } from '../../ui/notices.tsx';

/** The strip below the timeline. */
export function ActiveRuns({ nameOf }: { nameOf: (id: string) => string }): JSX.Element {
  const { active } = useRuns();
  const { items } = useTimeline();
  const writing = new Set(items.map((item) => (item.type === 'live' ? item.stream.runId : null)));
  return (
    <ul id="working" class="working" aria-label="Agents at work">
      {active.map((run) => (
        <RunLine
          key={run.runId}
          run={run}
          name={nameOf(run.agentId)}
          isWriting={writing.has(run.runId)}
        />
      ))}
    </ul>
  );
}

interface RunLineProps {
  run: ActiveRun;
  name: string;
  isWriting: boolean;
}

function RunLine({ run, name, isWriting }: RunLineProps) {
  const client = useClient();
  const notify = useNotify();
  const [isStopping, setIsStopping] = useState(false);
  const stop = () => {
    setIsStopping(true);
    client.runs.cancel(run.runId).catch((error) => {
      setIsStopping(false);
      notify(wordsOf(error));
    });
  };
  return (
    <li>
      <span class={run.status === 'waiting_tool' ? 'pulse waits' : 'pulse'} aria-hidden="true" />
      <span>{`${name} ${activityText(run, isWriting)}`}</span>
      <button
        type="button"
        class="quiet"
        aria-label={`Stop ${name}`}
        disabled={isStopping}
        onClick={stop}
      >
        Stop
      </button>
    </li>
  );
}

function activityText({ status, waiting }: ActiveRun, isWriting: boolean) {
  if (status === 'waiting_tool') return 'is waiting for an answer';
  if (status === 'queued') return 'is waiting to start';
  if (waiting) return 'is waiting for the model';
  return isWriting ? 'is writing…' : 'is thinking…';
}
