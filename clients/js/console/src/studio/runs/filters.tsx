// The filters above the table of runs. They are stored in the address.

import type { JSX } from 'preact';
import { listHash, open } from '../../navigation/address.ts';
import { useIsWide } from '../../ui/is_wide.ts';
import type { Named, Names } from './names.ts';
import { isFiltered, type RunFilters, type RunView } from './query.ts';
import { shortId } from './words.ts';

/** A value of a filter. */
export interface Option {
  value: string;
  text: string;
}

/** The states in which runs can be. */
export const STATUSES: readonly Option[] = [
  { value: 'queued', text: 'Waiting to start' },
  { value: 'running', text: 'Running' },
  { value: 'waiting_tool', text: 'Waiting for an answer' },
  { value: 'completed', text: 'Done' },
  { value: 'failed', text: 'Failed' },
  { value: 'canceled', text: 'Stopped' },
];

const SINCE: readonly Option[] = [
  { value: 'hour', text: 'Last hour' },
  { value: 'day', text: 'Last day' },
  { value: 'week', text: 'Last week' },
];

const SORTINGS: readonly Option[] = [
  { value: 'time', text: 'Newest first' },
  { value: 'cost', text: 'Highest cost first' },
];
const GROUPS: readonly Option[] = [{ value: 'run', text: 'Each run' }];

export interface FiltersProps {
  filters: RunFilters;
  view: RunView;
  names: Names;
}

/** A form of selects that change the address. In a narrow window it is folded. */
export function Filters(props: FiltersProps): JSX.Element {
  const isWide = useIsWide();
  if (isWide) return <FilterForm {...props} />;
  const count = Object.values(props.filters).filter((value) => value !== '').length;
  return (
    <details class="folded-filters">
      <summary>{count === 0 ? 'Filter and sort' : `Filter and sort (${count} set)`}</summary>
      <FilterForm {...props} />
    </details>
  );
}

function FilterForm({ filters, view, names }: FiltersProps): JSX.Element {
  const choose = (name: keyof RunFilters | keyof RunView) => (value: string) =>
    open(listHash('runs', { ...filters, ...view, [name]: value }));
  const { status, agentId, spaceId, since, until, trigger } = filters;
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filter runs"
      onSubmit={(event) => event.preventDefault()}
    >
      <Choice label="State" all="All states" value={status} onChoose={choose('status')}>
        {STATUSES}
      </Choice>
      <Choice label="Agent" all="All agents" value={agentId} onChoose={choose('agentId')}>
        {named(names.agents, agentId)}
      </Choice>
      <Choice label="Space" all="All spaces" value={spaceId} onChoose={choose('spaceId')}>
        {named(names.spaces, spaceId)}
      </Choice>
      <Choice label="Since" all="All time" value={since} onChoose={choose('since')}>
        {SINCE.some(({ value }) => value === since) || since === ''
          ? SINCE
          : [...SINCE, { value: since, text: timeText(since) }]}
      </Choice>
      <Choice
        label="Sort by"
        all="What needs you first"
        value={view.sort}
        onChoose={choose('sort')}
      >
        {SORTINGS}
      </Choice>
      <Choice label="Group by" all="Chain" value={view.group} onChoose={choose('group')}>
        {GROUPS}
      </Choice>
      {isFiltered(filters) ? (
        <a class="button" href={listHash('runs')}>
          Show all
        </a>
      ) : null}
      {trigger === '' ? null : <p class="note">Only runs that one message triggered.</p>}
      {until === '' ? null : <p class="note">{`Only runs before ${timeText(until)}.`}</p>}
    </form>
  );
}

export interface ChoiceProps {
  label: string;
  /** The text of the value that does not filter. */
  all: string;
  value: string;
  onChoose: (value: string) => void;
  children: readonly Option[];
}

/** A filter with its label. */
export function Choice({ label, all, value, onChoose, children }: ChoiceProps): JSX.Element {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">{all}</option>
        {children.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}

// The agent or space in the address is an option, even if it is deleted or not loaded yet.
function named(all: readonly Named[], current: string): Option[] {
  const options = all.map(({ id, name }) => ({ value: id, text: name }));
  const isKnown = current === '' || all.some(({ id }) => id === current);
  return isKnown ? options : [...options, { value: current, text: shortId(current) }];
}

function timeText(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toLocaleString();
}
