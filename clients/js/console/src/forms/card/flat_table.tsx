// JSON as a table: an object of plain values, or a list of such objects with the same names.

import type { JSX } from 'preact';
import { visible } from '../../ui/visible.ts';
import { isObject, wordsFor } from '../schema/json.ts';

const MOST_ROWS = 50;
const MOST_COLUMNS = 6;

/** A table. Without a head its first column names the rows. */
export interface Table {
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

/** The value as a table. Null: it is not flat, empty, or too large to be read as one. */
export function tableOf(value: unknown): Table | null {
  if (isFlat(value)) {
    const rows = Object.entries(value).map(([name, each]) => [name, textOf(each)]);
    return isBetween(rows.length, 1, MOST_ROWS) ? { head: [], rows } : null;
  }
  if (!Array.isArray(value) || !isBetween(value.length, 1, MOST_ROWS)) return null;
  if (!value.every(isFlat)) return null;
  const head = [...new Set(value.flatMap(Object.keys))];
  if (!isBetween(head.length, 1, MOST_COLUMNS)) return null;
  const cell = (row: Record<string, unknown>, name: string) =>
    Object.hasOwn(row, name) ? textOf(row[name]) : '';
  return { head, rows: value.map((row) => head.map((name) => cell(row, name))) };
}

const isFlat = (value: unknown): value is Record<string, unknown> =>
  isObject(value) &&
  Object.values(value).every((each) => each === null || typeof each !== 'object');

const isBetween = (count: number, least: number, most: number) => count >= least && count <= most;

const textOf = (value: unknown): string => (value === null ? '–' : wordsFor(value));

export const FlatTable = ({ table: { head, rows } }: { table: Table }): JSX.Element => (
  <div class="flat-table">
    <table>
      {head.length > 0 ? (
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col" dir="auto">
                {visible(name)}
              </th>
            ))}
          </tr>
        </thead>
      ) : null}
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((text, column) =>
              head.length === 0 && column === 0 ? (
                <th key={column} scope="row" dir="auto">
                  {visible(text)}
                </th>
              ) : (
                <td key={column} dir="auto">
                  {visible(text)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
