import type { JSX } from 'preact';
import { Page } from '../ui/page.tsx';

export function Usage({ filters }: { filters: URLSearchParams }): JSX.Element {
  return <Page title="Usage">{null}</Page>;
}
