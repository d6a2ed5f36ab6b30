// The range and the grouping of a report, both in the address.

import type { JSX, TargetedSubmitEvent } from 'preact';
import { listHash, open } from '../../navigation/address.ts';
import { useIsWide } from '../../ui/is_wide.ts';
import { dayText } from './chart.tsx';
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

/** The choice. In a narrow window it is folded. */
export function Choice(props: ChoiceProps): JSX.Element {
  const isWide = useIsWide();
  if (isWide) return <ChoiceForm {...props} />;
  const { range, by, now } = props;
  return (
    <details class="folded-filters">
      <summary>
        {`Range and grouping (${rangeText(range, now)}, by ${GROUPS[by].toLowerCase()})`}
      </summary>
      <ChoiceForm {...props} />
    </details>
  );
}

function rangeText({ from, to }: Range, now: number): string {
  const length = LENGTHS.find((each) => {
    const last = lastDays(each, now);
    return last.from === from && last.to === to;
  });
  if (length !== undefined) return length === 1 ? 'today' : `${length} days`;
  return from === to ? dayText(from) : `${dayText(from)} – ${dayText(to)}`;
}

// Links to other ranges, a form for one's own, and the grouping.
function ChoiceForm({ range, by, now }: ChoiceProps) {
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
