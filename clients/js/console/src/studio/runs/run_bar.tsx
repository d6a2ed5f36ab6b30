// The time of a row as a bar: the queue, the wait for the first words, and the work. Of a chain
// each run is a part. The columns have the numbers.

import type { JSX } from 'preact';
import type { ListedRun } from './listed.ts';

interface Part {
  key: string;
  kind: string;
  from: number;
  to: number;
}

/** The bar of one run, or of the runs of a chain on a common axis. */
export function RunBar({ runs, now }: { runs: readonly ListedRun[]; now: number }): JSX.Element {
  const [only] = runs;
  const parts = runs.length === 1 && only ? partsOf(only, now) : runs.map((run) => whole(run, now));
  const from = Math.min(...parts.map((part) => part.from));
  const length = Math.max(1, ...parts.map(({ to }) => to - from));
  const place = (at: number) => `${(100 * (at - from)) / length}%`;
  return (
    <span class="run-bar" aria-hidden="true">
      {parts.map(({ key, kind, from: start, to }) => (
        <span
          key={key}
          data-kind={kind}
          style={{ left: place(start), right: `calc(100% - ${place(to)})` }}
        />
      ))}
    </span>
  );
}

const time = (at: string | null | undefined, otherwise: number) =>
  at ? Date.parse(at) : otherwise;

function whole({ id, status, startedAt, createdAt, finishedAt }: ListedRun, now: number): Part {
  const from = time(startedAt, Date.parse(createdAt));
  return { key: id, kind: status, from, to: Math.max(from, time(finishedAt, now)) };
}

function partsOf(run: ListedRun, now: number): Part[] {
  const { createdAt, startedAt, firstTokenAt, status } = run;
  const asked = Date.parse(createdAt);
  const { to } = whole(run, now);
  const started = time(startedAt, to);
  const spoke = time(firstTokenAt, status === 'waiting_tool' ? started : to);
  const parts = [
    { key: 'queue', kind: 'queue', from: asked, to: started },
    { key: 'first', kind: firstTokenAt ? 'first' : status, from: started, to: spoke },
    { key: 'rest', kind: status, from: spoke, to },
  ];
  return parts.filter((part) => part.to > part.from);
}
