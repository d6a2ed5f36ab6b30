// The range and the grouping of a report, both in the address.

import type { JSX, TargetedSubmitEvent } from 'preact';
import { listHash, open } from '../../navigation/address.ts';
import { lastDays, type Group, type Range } from './report.ts';

const LENGTHS = [1, 7, 30, 92];
const GROUPS: Record<Group, string> = {
  agent: 'Agent',
  model: 'Model',
  'agent,model': 'Agent and model',
};

export interface ChoiceProps {
  range: Range;
  by: Group;
  now: number;
}

/** Links to other ranges, a form for one's own, and the grouping. */
export function Choice({ range, by, now }: ChoiceProps): JSX.Element {
  const { from, to } = range;
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const textOf = (name: string) => String(data.get(name) ?? '');
    open(listHash('usage', { from: textOf('from'), to: textOf('to'), by }));
  };
  return (
    <div class="usage-choice">
      <nav class="lengths" aria-label="Range">
        {LENGTHS.map((length) => {
          const last = lastDays(length, now);
          const isCurrent = last.from === from && last.to === to;
          return (
            <a
              key={length}
              class="button"
              href={listHash('usage', { ...last, by })}
              aria-current={isCurrent ? 'true' : undefined}
            >
              {length === 1 ? 'Today' : `${length} days`}
            </a>
          );
        })}
      </nav>
      <form key={`${from} ${to}`} class="own-range" aria-label="Own dates" onSubmit={submit}>
        <label>
          From <input type="date" name="from" defaultValue={from} required />
        </label>
        <label>
          To <input type="date" name="to" defaultValue={to} required />
        </label>
        <button type="submit">Show</button>
      </form>
      <label class="grouping">
        Group by{' '}
        <select
          value={by}
          onChange={({ currentTarget }) =>
            open(listHash('usage', { ...range, by: currentTarget.value }))
          }
        >
          {Object.entries(GROUPS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
