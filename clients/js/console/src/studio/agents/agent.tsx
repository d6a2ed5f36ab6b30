import type { JSX } from 'preact';
import { Page } from '../ui/page.tsx';

export function Agent({ agentId, tab }: { agentId: string; tab: string }): JSX.Element {
  return <Page title="Agent">{null}</Page>;
}
