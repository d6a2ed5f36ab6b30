// A text field above a long list, which leaves the rows whose names have the text.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

// A list of so many rows needs no filter.
const SHORT = 20;

export interface NameFilter<T> {
  /** The rows to show. */
  found: readonly T[];
  /** Whether a text is typed. */
  isOn: boolean;
  /** The field; null above a short list. */
  field: JSX.Element | null;
}

export function useNameFilter<T extends { name: string }>(items: readonly T[]): NameFilter<T> {
  const [typed, setTyped] = useState('');
  if (items.length <= SHORT) return { found: items, isOn: false, field: null };
  const text = typed.trim().toLocaleLowerCase();
  const found = items.filter(({ name }) => name.toLocaleLowerCase().includes(text));
  const field = (
    <div class="form-row name-filter">
      <label>
        Filter by name{' '}
        <input
          type="search"
          value={typed}
          autocomplete="off"
          dir="auto"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
      <span class="note" role="status">
        {text === '' ? '' : `${found.length} of ${items.length}`}
      </span>
    </div>
  );
  return { found, isOn: text !== '', field };
}
