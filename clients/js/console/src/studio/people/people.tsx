import type { JSX } from 'preact';
import { Page } from '../ui/page.tsx';

export function People(): JSX.Element {
  return <Page title="People">{null}</Page>;
}
