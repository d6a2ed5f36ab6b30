// The input or the output of a call.

import type { JSX } from 'preact';
import { visible } from '../../ui/visible.ts';
import { jsonText, rowsOf } from './json_rows.ts';

/** A flat object as a table, other JSON as a text. */
export function JsonView({ title, value }: { title: string; value: unknown }): JSX.Element {
  const rows = rowsOf(value);
  return (
    <>
      <h5>{title}</h5>
      {rows ? (
        <table class="pairs" aria-label={title}>
          <tbody>
            {rows.map(([name, text]) => (
              <tr key={name}>
                <th scope="row" dir="auto">
                  {visible(name)}
                </th>
                <td dir="auto">{visible(text)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <pre class="json-text" tabIndex={0} aria-label={title}>
          {visible(jsonText(value))}
        </pre>
      )}
    </>
  );
}
