import type { JSX } from 'preact';
import { Page } from '../ui/page.tsx';

export function NewAgent(): JSX.Element {
  return <Page title="New agent">{null}</Page>;
}
