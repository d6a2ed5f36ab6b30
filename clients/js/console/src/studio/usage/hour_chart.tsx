// The cost of each hour of a day beside what the hour usually costs. Each bar leads to its runs.

import type { Schemas } from '@smartspace/client';
import type { JSX } from 'preact';
import { listHash } from '../../navigation/address.ts';
import { costText } from '../../why/words.ts';
import { useAnswer } from '../data/answer.ts';
import { Part } from '../frame/page.tsx';
import { hourFilter, hoursOf, weekBefore, type HourCost } from './hours.ts';
import { dayText } from './chart.tsx';

/** The hours of a day. Nothing while they are not known. */
export function HourChart({ day }: { day: string }): JSX.Element | null {
  const range = weekBefore(day);
  const query = range && new URLSearchParams({ ...range, by: 'day' });
  const { answer } = useAnswer<Schemas['UsageReport']>(query && `/v1/usage?${query}`);
  const hours = answer && hoursOf(answer.items, day);
  if (!hours) return null;
  const highest = Math.max(...hours.flatMap(({ cost, usual }) => [cost, usual]));
  return (
    <Part title="By hour">
      <figure class="chart">
        <figcaption>
          <h3>{`Cost on ${dayText(day)}`}</h3>
          <span class="note">UTC; the line is the average of the 7 days before</span>
        </figcaption>
        <ol class="bars hours" aria-label="Cost by hour">
          {hours.map((hour) => (
            <Hour key={hour.hour} day={day} hour={hour} highest={highest} />
          ))}
        </ol>
        <div class="days" aria-hidden="true">
          {['00:00', '06:00', '12:00', '18:00', '24:00'].map((time) => (
            <span key={time}>{time}</span>
          ))}
        </div>
      </figure>
    </Part>
  );
}

function Hour({ day, hour, highest }: { day: string; hour: HourCost; highest: number }) {
  const { cost, usual } = hour;
  const part = (value: number) => `${highest > 0 ? (100 * value) / highest : 0}%`;
  const words = `${hour.hour}:00 · ${costText(cost)}, usually ${costText(usual)}`;
  const bars = (
    <>
      <span class="fill fill-0" style={{ height: part(cost) }} />
      {usual > 0 ? <span class="usual" style={{ bottom: part(usual) }} /> : null}
    </>
  );
  if (cost === 0)
    return (
      <li class="day-bar" aria-hidden="true" title={words}>
        {bars}
      </li>
    );
  const href = listHash('runs', { ...hourFilter(day, hour.hour), sort: 'cost' });
  return (
    <li>
      <a class="day-bar" href={href} aria-label={words} title={words}>
        {bars}
      </a>
    </li>
  );
}
