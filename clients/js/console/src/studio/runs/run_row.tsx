// One run of the table: its state, its story, its numbers, and its actions.

import type { ComponentChildren, JSX, TargetedMouseEvent } from 'preact';
import { useMemo } from 'preact/hooks';
import { headingOf } from '../../forms/card/waiting.ts';
import { agentHash, hashOf, open, runHash } from '../../navigation/address.ts';
import { inARow } from '../../why/words.ts';
import { Ago } from './ago.tsx';
import { hasSpoken, storyOf, type ListedRun, type Story } from './listed.ts';
import { RowActions } from './row_actions.tsx';
import { RunBar } from './run_bar.tsx';
import type { RunTable } from './run_table.ts';
import { isActive, lengthOf, numbersOf, stateOf } from './words.ts';

export interface RunRowProps {
  run: ListedRun;
  table: RunTable;
  /** It belongs to the chain of the row above. */
  isNested?: boolean;
}

/** A row. A click beside its links opens the run, too. */
export function RunRow({ run, table, isNested }: RunRowProps): JSX.Element {
  const { now, agentName, messages } = table;
  const state = stateOf(run, hasSpoken(run, messages));
  const { tokens, cost, title } = numbersOf(run);
  const click = ({ target }: TargetedMouseEvent<HTMLTableRowElement>) => {
    const isText = getSelection()?.isCollapsed === false;
    if (!isText && !(target as Element).closest('a, button')) open(runHash(run.id));
  };
  return (
    <tr onClick={click} class={isNested ? 'nested' : undefined}>
      <th scope="row">
        <a class="run-state" data-tone={state.tone} href={runHash(run.id)}>
          {state.words}
        </a>
      </th>
      {agentName ? (
        <td class="who">
          <a href={agentHash(run.agentId)} dir="auto">
            {agentName(run.agentId)}
          </a>
        </td>
      ) : null}
      <td class="story">
        <RunStory run={run} table={table} />
        {state.detail ? (
          <span class="note clipped" dir="auto" title={state.detail}>
            {state.detail}
          </span>
        ) : null}
        <span class="note">
          <Where run={run} table={table} />
          {[
            isNested && run.chainDepth > 0 ? `after ${inARow(run.chainDepth)}` : '',
            run.remote ? 'works elsewhere' : '',
            run.forkOf ? 'dry run of another run' : '',
            run.retryOf ? 'repeats another run' : '',
          ]
            .filter((words) => words !== '')
            .map((words) => ` · ${words}`)
            .join('')}
        </span>
      </td>
      <td class="time">
        <RunBar runs={[run]} now={now} />
      </td>
      <Numbers
        took={lengthOf(run, now) ?? '–'}
        steps={run.stepCount}
        tokens={tokens}
        cost={cost}
        title={title}
        note={run.reportedUsage ? 'reported' : null}
      />
      <td class="row-end">
        <div class="row-actions">
          <RowActions run={run} table={table} />
        </div>
      </td>
    </tr>
  );
}

/** What set a run off and what came of it; of a waiting run, its question. */
export function RunStory({ run, table }: Omit<RunRowProps, 'isNested'>): JSX.Element {
  const item = table.waiting.get(run.id);
  const { messages } = table;
  const story = useMemo(() => storyOf(run, messages), [run, messages]);
  return (
    <span class="clipped" dir="auto">
      <Cause story={story} />
      {item ? <Result>{headingOf(item)}</Result> : null}
      {!item && story.said !== null ? <Result>{`“${story.said}”`}</Result> : null}
    </span>
  );
}

const Cause = ({ story: { cause, asked } }: { story: Story }) => (
  <>
    {cause}
    {asked === '' ? '' : `: ${asked}`}
  </>
);

const Result = ({ children }: { children: ComponentChildren }) => (
  <>
    {' → '}
    <strong>{children}</strong>
  </>
);

/** The space of a run, and when it was started. */
export function Where({ run, table }: Omit<RunRowProps, 'isNested'>): JSX.Element {
  const { trigger, activeSpaceId } = run;
  const space = table.spaceOf(run);
  return (
    <>
      {activeSpaceId && space ? (
        <>
          <a href={hashOf(activeSpaceId, 'seq' in trigger ? trigger.seq : undefined)} dir="auto">
            {space.name}
          </a>
          {' · '}
        </>
      ) : null}
      {run.startedAt === null && isActive(run) ? 'queued ' : null}
      <Ago at={run.startedAt ?? run.createdAt} />
    </>
  );
}

export interface NumbersProps {
  took: string;
  steps: number;
  tokens: string;
  cost: string;
  /** The tokens by kind, in words. */
  title?: string;
  note?: string | null;
}

/** The cells with the numbers of a row. */
export const Numbers = ({ took, steps, tokens, cost, title, note }: NumbersProps): JSX.Element => (
  <>
    <td class="number took">{took}</td>
    <td class="number" data-label="Steps">
      {steps}
    </td>
    <td class="number" data-label="Tokens" title={title}>
      {tokens}
      {note ? <span class="note">{note}</span> : null}
    </td>
    <td class="number cost">{cost}</td>
  </>
);
