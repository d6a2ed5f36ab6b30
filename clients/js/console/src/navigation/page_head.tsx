// The head of a page: its title, and in narrow windows the links to the list of spaces and to the
// search. There the list is a page of its own.

import type { ComponentChildren, JSX, Ref } from 'preact';
import { Status } from '../ui/status.tsx';
import { LIST, searchHash } from './address.ts';

export interface PageHeadProps {
  /** Undefined until the page is loaded. */
  title?: string;
  /** The heading, which can be given the focus. */
  heading?: Ref<HTMLHeadingElement>;
  /** What follows the title. */
  children?: ComponentChildren;
}

export const PageHead = ({ title, heading, children }: PageHeadProps): JSX.Element => (
  <header class="page-head">
    <a class="back" href={LIST} aria-label="All spaces">
      <span aria-hidden="true">‹</span>
    </a>
    {title === undefined ? null : (
      <>
        <h1 id="page-title" ref={heading ?? null} tabIndex={heading ? -1 : undefined} dir="auto">
          {title}
        </h1>
        <Status />
      </>
    )}
    {children}
    <a class="find" href={searchHash()} aria-label="Search" onClick={keepSearch}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="7" cy="7" r="4.5" />
        <path d="m10.5 10.5 4 4" />
      </svg>
    </a>
  </header>
);

// On the page of a search, the link goes to its text.
function keepSearch(event: Event) {
  const box = document.getElementById('search-text');
  if (!box) return;
  event.preventDefault();
  box.focus();
}
