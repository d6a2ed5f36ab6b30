import type { JSX } from 'preact';
import { Page } from '../ui/page.tsx';

export function Agents(): JSX.Element {
  return <Page title="Agents">{null}</Page>;
}
