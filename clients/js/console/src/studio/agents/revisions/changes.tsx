// Fields with two values each, such as those before and after a change.

import type { JSX } from 'preact';
import { visible } from '../../../ui/visible.ts';
import { jsonText } from '../../run/json_rows.ts';
import { fieldWords, type Change } from './revision_words.ts';

// A longer text scrolls in a box of its own.
const BRIEF = 80;

export interface ChangesProps {
  label: string;
  /** The heads of the two values. */
  heads: readonly [string, string];
  changes: readonly Change[];
}

export function Changes({ label, heads, changes }: ChangesProps): JSX.Element {
  return (
    <table class="list changes" aria-label={label}>
      <thead>
        <tr>
          {['Field', ...heads].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {changes.map(({ pointer, from, to }) => (
          <tr key={pointer}>
            <th scope="row">{fieldWords(pointer)}</th>
            {[from, to].map((value, index) => (
              <td key={index} data-label={heads[index]}>
                <Value value={value} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === undefined || value === null) return <span class="note">none</span>;
  if (value === '') return <span class="note">empty</span>;
  const text = visible(jsonText(value));
  return text.length <= BRIEF && !text.includes('\n') ? (
    <span dir="auto">{text}</span>
  ) : (
    <pre class="json-text" tabIndex={0} dir="auto">
      {text}
    </pre>
  );
}
