// The usage of models: by day, by agent and by model.

import type { Entity, Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { costText, usageCost } from '../../why/words.ts';
import { useActivity } from '../data/activity.ts';
import { useAnswer } from '../data/answer.ts';
import { useAll } from '../data/pages.ts';
import { Loaded, Page, Part } from '../frame/page.tsx';
import { Chart, MOST_SERIES } from './chart.tsx';
import { Choice } from './choice.tsx';
import { changeOf, changeText } from './costs.ts';
import { HourChart } from './hour_chart.tsx';
import { lengthOf, rangeBefore } from './hours.ts';
import { namesOf } from './names.ts';
import {
  daysOf,
  groupOf,
  rangeOf,
  seriesOf,
  shortened,
  tokensOf,
  type Group,
  type Range,
  type UsageItem,
} from './report.ts';
import { DayTable, reuseText, SumTable } from './tables.tsx';

/** The usage page. Its range and its grouping are in the address. */
export function Usage({ filters }: { filters: URLSearchParams }): JSX.Element {
  const now = Date.now();
  const range = rangeOf(filters, now);
  const by = groupOf(filters);
  const query = new URLSearchParams({ ...range, by: `day,${by}` });
  const { answer, error, isLoading, reload } = useAnswer<Schemas['UsageReport']>(
    `/v1/usage?${query}`,
  );
  useActivity(reload);
  const earlier = rangeBefore(range);
  const earlierQuery = earlier && new URLSearchParams({ ...earlier, by });
  const { answer: before } = useAnswer<Schemas['UsageReport']>(
    earlierQuery && `/v1/usage?${earlierQuery}`,
  );
  const isEmpty = !answer || answer.items.length === 0;
  return (
    <Page title="Usage">
      <Choice range={range} by={by} now={now} />
      <Loaded
        isLoading={isLoading && !answer}
        error={error}
        isEmpty={isEmpty}
        empty={
          'No run has ended in this time. When agents run, their tokens and their cost appear ' +
          'here. Send a message in a space with an agent to begin.'
        }
      >
        {answer ? <Report report={answer} before={before} range={range} by={by} /> : null}
        <p class="note">
          The price of scripted agents is simulated: nobody charges it. What remote agents use
          elsewhere is not in these numbers.
        </p>
      </Loaded>
    </Page>
  );
}

interface ReportProps {
  report: Schemas['UsageReport'];
  /** The report of the days before, once it is loaded. */
  before: Schemas['UsageReport'] | null;
  range: Range;
  by: Group;
}

function Report({ report, before, range, by }: ReportProps) {
  const series = seriesOf(report.items, by);
  const people = usePeopleIds();
  const nameOf = namesOf(report.items, by, people);
  const charted = shortened(series, MOST_SERIES);
  const days = daysOf(range);
  const chart = { days, series: charted, nameOf };
  const isWithoutPrice = series.some(({ total }) => total.cost === null || total.priceUnknown);
  return (
    <>
      <Totals total={report.total} before={before?.total ?? null} days={lengthOf(range)} />
      {isWithoutPrice ? (
        <p class="note">
          “Price unknown”: the price list does not have the model. Its cost counts with the highest
          price of its provider, or as nothing if the model runs on your own server.
        </p>
      ) : null}
      <HourChart day={range.to} />
      <Part title="By day">
        {report.total.cost === null ? null : (
          <Chart {...chart} title="Cost" valueOf={costOf} textOf={costText} />
        )}
        <Chart {...chart} title="Tokens" valueOf={tokensOf} textOf={numberText} />
      </Part>
      <Part title="In all">
        <SumTable
          by={by}
          series={series}
          nameOf={nameOf}
          people={people}
          before={before ? seriesOf(before.items, by) : []}
          range={range}
        />
      </Part>
      <Part title="Numbers of each day">
        <details class="day-numbers">
          <summary>Show the table</summary>
          <DayTable by={by} series={series} nameOf={nameOf} />
        </details>
      </Part>
    </>
  );
}

// The people, also guests. The API does not say what an entity with usage is.
function usePeopleIds(): ReadonlySet<string> {
  const { items } = useAll<Entity>('/v1/entities?limit=200');
  return new Set(items.flatMap(({ id, type }) => (type === 'human' ? [id] : [])));
}

const costOf = ({ cost }: UsageItem) => cost ?? 0;
const numberText = (value: number) => value.toLocaleString();

interface TotalsProps {
  total: UsageItem;
  before: UsageItem | null;
  /** The number of days that are compared. */
  days: number;
}

function Totals({ total, before, days }: TotalsProps) {
  const change = before && changeOf(total.cost ?? 0, before.cost ?? 0);
  const than = days === 1 ? 'the day before' : `the ${days} days before`;
  const facts = [
    ['Cost', usageCost(total)],
    ['Tokens read', numberText(total.inputTokens)],
    ['Cache reuse', reuseText(total)],
    ['Tokens written', numberText(total.outputTokens)],
    ['Runs', numberText(total.runs)],
  ] as const;
  return (
    <dl class="facts totals" aria-label="Totals">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {before ? (
        <div>
          <dt>{`Against ${than}`}</dt>
          <dd>{change === null ? 'no cost then' : changeText(change)}</dd>
        </div>
      ) : null}
    </dl>
  );
}
