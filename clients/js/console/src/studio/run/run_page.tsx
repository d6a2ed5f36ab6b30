import type { JSX } from 'preact';
import { Page } from '../ui/page.tsx';

export function RunPage({ runId, step }: { runId: string; step: number | null }): JSX.Element {
  return <Page title="Run">{null}</Page>;
}
