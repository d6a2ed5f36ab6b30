// A chain of several runs as one row, which opens to show each of them.

import type { Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { spacePath } from '../../api/paths.ts';
import { isolated } from '../../ui/visible.ts';
import { costText, inARow } from '../../why/words.ts';
import { useAnswer } from '../data/answer.ts';
import { agentsOf, countsOf, firstOf, sumsOf, type Outcome, type RunGroup } from './chains.ts';
import { hasSpoken, storyOf, type ListedRun, type RunMessages } from './listed.ts';
import { Answer, StopChain } from './row_actions.tsx';
import { RunBar } from './run_bar.tsx';
import type { RunTable } from './run_table.ts';
import { Numbers, RunRow, Where } from './run_row.tsx';
import { spanText, type Tone } from './words.ts';

const WORDS: Record<Outcome, string> = {
  running: 'Running',
  queued: 'Waiting to start',
  waiting: 'Waiting',
  failed: 'Failed',
  spoke: 'Spoke',
  done: 'Done',
  silent: 'Silent',
  stopped: 'Stopped',
};
const TONES: Record<Outcome, Tone> = {
  running: 'live',
  queued: 'wait',
  waiting: 'wait',
  failed: 'problem',
  spoke: 'done',
  done: 'plain',
  silent: 'plain',
  stopped: 'plain',
};

export interface ChainRowProps {
  group: RunGroup;
  table: RunTable;
}

/** The row of a chain, and those of its runs while it is open. */
export function ChainRow({ group, table }: ChainRowProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const { runs } = group;
  const { now, agentName, messages } = table;
  const first = firstOf(group);
  const sums = sumsOf(runs, now);
  const answers = runs.map((run) => run.chainDepth + Number(hasSpoken(run, messages)));
  const lengthText = useLengthText(sums.depth > 0 ? Math.max(...answers) : null, first);
  const counts = countsOf(runs, messages);
  const [[state] = ['done' as const]] = counts;
  const story = useMemo(() => storyText(group, messages), [group, messages]);
  return (
    <>
      <tr class="chain-head">
        <th scope="row">
          <span class="run-state" data-tone={TONES[state]}>
            {WORDS[state]}
          </span>
        </th>
        {agentName ? (
          <td class="who" dir="auto">
            {agentsText(group, messages, agentName)}
          </td>
        ) : null}
        <td class="story">
          <button
            type="button"
            class="link opener"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            {`${runs.length} runs ${lengthText}`}
          </button>
          <span class="clipped" dir="auto">
            {story}
          </span>
          <span class="note">
            <Where run={first} table={table} />
            {counts.map(([outcome, count]) => ` · ${count} ${WORDS[outcome].toLowerCase()}`)}
          </span>
        </td>
        <td class="time">
          <RunBar runs={runs} now={now} />
        </td>
        <Numbers
          took={spanText(Math.max(0, sums.to - sums.from))}
          steps={sums.steps}
          tokens={sums.tokens === null ? '–' : sums.tokens.toLocaleString()}
          cost={sums.cost === null ? '–' : costText(sums.cost)}
        />
        <td class="row-end">
          <div class="row-actions">
            {runs.map((run) => (
              <Answer key={run.id} run={run} table={table} />
            ))}
            <StopChain runs={runs} table={table} />
          </div>
        </td>
      </tr>
      {isOpen ? runs.map((run) => <RunRow key={run.id} run={run} table={table} isNested />) : null}
    </>
  );
}

// How many answers follow each other; null if nobody answered an answer.
function useLengthText(answers: number | null, { activeSpaceId }: ListedRun): string {
  const path = answers !== null && activeSpaceId ? spacePath(activeSpaceId) : null;
  const { answer } = useAnswer<Schemas['Space']>(path);
  if (answers === null) return 'of one message';
  return `in one chain, ${inARow(answers, answer?.maxChainDepth)}`;
}

// The two sides of a talk, or one agent, whose state the row has, and how many more there are.
function agentsText(
  group: RunGroup,
  messages: RunMessages,
  agentName: (id: string) => string,
): string {
  const names = agentsOf(group, messages).map((id) => isolated(agentName(id)));
  if (names.length <= 2) return names.join(' ⇄ ');
  return `${names[0] ?? ''} and ${names.length - 1} others`;
}

// What began the chain, and the last words in it.
function storyText(group: RunGroup, messages: RunMessages): string {
  const { cause, asked } = storyOf(firstOf(group), messages);
  const said = group.runs.map((run) => storyOf(run, messages).said).find((words) => words !== null);
  return [`${cause}${asked === '' ? '' : `: ${asked}`}`, ...(said ? [`“${said}”`] : [])].join(
    ' → ',
  );
}
