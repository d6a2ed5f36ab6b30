// The agents that are at work now, in one line with a button that stops them.

import type { ActiveRun } from '@smartspace/client';
import { useClient, useRuns, useTimeline } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { focusMessageBox } from '../../ui/message_box.ts';
import { useNotify, wordsOf } from '../../ui/notices.tsx';

export interface ActiveRunsProps {
  nameOf: (id: string) => string;
  /** A guest stops nothing. */
  isGuest: boolean;
}

/** The line below the timeline. */
export function ActiveRuns({ nameOf, isGuest }: ActiveRunsProps): JSX.Element {
  const { active } = useRuns();
  const { items } = useTimeline();
  // An agent may have several runs.
  const agentIds = [...new Set(active.map(({ agentId }) => agentId))];
  const names = agentIds.map(nameOf);
  const first = active.find(({ status }) => status === 'running') ?? active[0];
  const writing = new Set(items.map((item) => (item.type === 'live' ? item.stream.runId : null)));
  return (
    <ul id="working" class="working" aria-label="Agents at work">
      {first ? (
        <li>
          <span class={active.some(isAtWork) ? 'pulse' : 'pulse waits'} aria-hidden="true" />
          <span dir="auto">
            {names.length > 1
              ? `${names.length} agents at work: ${names.join(', ')}`
              : `${names[0]} ${activityText(first, writing.has(first.runId))}`}
          </span>
          {isGuest ? null : (
            <StopButton key={active.map(({ runId }) => runId).join()} {...{ active, names }} />
          )}
        </li>
      ) : null}
    </ul>
  );
}

const isAtWork = ({ status }: ActiveRun) => status !== 'waiting_tool';

function StopButton({ active, names }: { active: readonly ActiveRun[]; names: readonly string[] }) {
  const client = useClient();
  const notify = useNotify();
  const [isStopping, setIsStopping] = useState(false);
  const stop = () => {
    setIsStopping(true);
    // The button goes with the runs.
    focusMessageBox();
    for (const { runId } of active)
      client.runs.cancel(runId).catch((error) => {
        setIsStopping(false);
        notify(wordsOf(error));
      });
  };
  const isOne = names.length === 1;
  return (
    <button
      type="button"
      class="quiet"
      aria-label={isOne ? `Stop ${names[0]}` : 'Stop all agents'}
      disabled={isStopping}
      onClick={stop}
    >
      {isOne ? 'Stop' : 'Stop all'}
    </button>
  );
}

function activityText({ status, waiting }: ActiveRun, isWriting: boolean) {
  if (status === 'waiting_tool') return 'is waiting for an answer';
  if (status === 'queued') return 'is waiting to start';
  if (waiting) return 'is waiting for the model';
  return isWriting ? 'is writing…' : 'is thinking…';
}
