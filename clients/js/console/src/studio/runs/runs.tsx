import type { JSX } from 'preact';
import { Page } from '../ui/page.tsx';

export function Runs({ filters }: { filters: URLSearchParams }): JSX.Element {
  return <Page title="Runs">{null}</Page>;
}
