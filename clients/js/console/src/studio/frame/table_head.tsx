// The head of a table with actions at the end of its rows.

import type { JSX } from 'preact';

export interface TableHeadProps {
  columns: readonly string[];
  /** The columns of numbers, which are aligned at the end. */
  numbers?: readonly string[];
}

/** The names of the columns, and one for the actions. */
export const TableHead = ({ columns, numbers = [] }: TableHeadProps): JSX.Element => (
  <thead>
    <tr>
      {columns.map((name) => (
        <th key={name} scope="col" class={numbers.includes(name) ? 'number' : undefined}>
          {name}
        </th>
      ))}
      <th scope="col">
        <span class="unseen">Actions</span>
      </th>
    </tr>
  </thead>
);
