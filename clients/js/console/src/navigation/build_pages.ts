// The pages for operators.

import type { Address } from './address.ts';

export interface BuildPage {
  name: string;
  href: string;
  /** The pages below this one, and itself. */
  pages: readonly Address['page'][];
}

export const BUILD_PAGES: readonly BuildPage[] = [
  { name: 'Agents', href: '#/agents', pages: ['agents', 'agent'] },
  { name: 'People', href: '#/people', pages: ['people'] },
  { name: 'Runs', href: '#/runs', pages: ['runs', 'run'] },
  { name: 'Usage', href: '#/usage', pages: ['usage'] },
];
