// What an address shows that names nothing, or nothing that is there.

import type { JSX } from 'preact';
import { LIST } from './address.ts';
import { PageHead } from './page_head.tsx';

export const NoSuchPage = ({ what }: { what: 'page' | 'space' }): JSX.Element => (
  <main class="page">
    <PageHead title={`There is no such ${what}`} />
    <div class="page-body">
      <p>It was deleted, you may not see it, or its address has a mistake.</p>
      <p>
        <a class="button" href={LIST}>
          Go to the spaces
        </a>
      </p>
    </div>
  </main>
);
