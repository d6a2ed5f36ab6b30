// What one can write in a search, shown while its text is empty.

import type { JSX } from 'preact';

const TRIES = [
  ['"first draft"', 'side by side'],
  ['roll*', 'beginnings'],
  ['-draft', 'without it'],
  ['in: from:', ''],
  ['has:file after:2026-02-18', ''],
];

export const Tries = (): JSX.Element => (
  <ul class="mention-list note" aria-label="Filters">
    {TRIES.map(([written, meaning]) => (
      <li key={written}>
        <code>{written}</code> {meaning}
      </li>
    ))}
  </ul>
);
