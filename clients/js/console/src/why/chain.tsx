import type { Run } from '@smartspace/client';
import type { JSX } from 'preact';
import type { Cast } from '../page/members.ts';

export function Chain({ run, cast }: { run: Run; cast: Cast }): JSX.Element | null {
  return null;
}
