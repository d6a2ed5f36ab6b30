// The link to the list of spaces, in narrow windows: there the list is a page of its own.

import type { JSX } from 'preact';
import { LIST } from './address.ts';

export const Back = (): JSX.Element => (
  <a class="back" href={LIST} aria-label="All spaces">
    <span aria-hidden="true">‹</span>
  </a>
);
