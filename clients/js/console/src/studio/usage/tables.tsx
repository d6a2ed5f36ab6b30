// The numbers of the charts as tables.

import type { JSX } from 'preact';
import { listHash } from '../../navigation/address.ts';
import { usageCost } from '../../why/words.ts';
import { agentIdOf, isAgent } from './names.ts';
import { changeOf, changeText } from './costs.ts';
import { rangeFilter } from './hours.ts';
import { reuseOf, type Group, type Range, type Series, type UsageItem } from './report.ts';

const HEADS: Record<Group, string> = {
  agent: 'Agent',
  model: 'Model',
  'agent,model': 'Agent and model',
};
const NUMBERS = ['Runs', 'Input', 'Cache reuse', 'Output', 'Cost'];

export interface TableProps {
  by: Group;
  series: readonly Series[];
  nameOf: (key: string | null) => string;
}

export interface SumTableProps extends TableProps {
  /** The ids of those who are no agents. */
  people: ReadonlySet<string>;
  /** The sums of the days before. */
  before: readonly Series[];
  range: Range;
}

/** The sums of the whole range. An agent leads to its runs, the most expensive first. */
export function SumTable(props: SumTableProps): JSX.Element {
  const { by, series, nameOf, people, before, range } = props;
  const costs = new Map(before.map(({ key, total }) => [key, total.cost ?? 0]));
  const runsOf = (key: string) =>
    listHash('runs', { agentId: agentIdOf(key), ...rangeFilter(range), sort: 'cost' });
  return (
    <table class="list">
      <thead>
        <Heads names={[HEADS[by]]} more={['Change']} />
      </thead>
      <tbody>
        {series.map(({ key, total }) => {
          const change = changeOf(total.cost ?? 0, costs.get(key) ?? 0);
          return (
            <tr key={key}>
              <th scope="row" dir="auto">
                {by !== 'model' && isAgent(key, people) ? (
                  <a href={runsOf(key)}>{nameOf(key)}</a>
                ) : (
                  nameOf(key)
                )}
              </th>
              <Numbers item={total} />
              <td class="number" data-label="Change">
                {change === null ? '–' : changeText(change)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The sums of each day, the last day first. */
export function DayTable({ by, series, nameOf }: TableProps): JSX.Element {
  const rows = series.flatMap(({ key, days }) =>
    [...days].map(([day, item]) => ({ key, day, item })),
  );
  rows.sort((one, other) => (one.day < other.day ? 1 : one.day > other.day ? -1 : 0));
  return (
    <table class="list">
      <thead>
        <Heads names={['Day', HEADS[by]]} />
      </thead>
      <tbody>
        {rows.map(({ key, day, item }) => (
          <tr key={`${day} ${key}`}>
            <th scope="row">
              <a href={listHash('usage', { from: day, to: day, by })}>{day}</a>
            </th>
            <td data-label={HEADS[by]} dir="auto">
              {nameOf(key)}
            </td>
            <Numbers item={item} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Heads = ({ names, more = [] }: { names: readonly string[]; more?: readonly string[] }) => (
  <tr>
    {names.map((name) => (
      <th key={name} scope="col">
        {name}
      </th>
    ))}
    {[...NUMBERS, ...more].map((name) => (
      <th key={name} scope="col" class="number">
        {name}
      </th>
    ))}
  </tr>
);

function Numbers({ item }: { item: UsageItem }) {
  const texts = [
    item.runs.toLocaleString(),
    item.inputTokens.toLocaleString(),
    reuseText(item),
    item.outputTokens.toLocaleString(),
    usageCost(item),
  ];
  return (
    <>
      {NUMBERS.map((name, index) => (
        <td key={name} class="number" data-label={name}>
          {texts[index]}
        </td>
      ))}
    </>
  );
}

/** The share of the input that came from the cache. */
export function reuseText(item: UsageItem): string {
  const reuse = reuseOf(item);
  return reuse === null ? '–' : `${reuse} %`;
}
