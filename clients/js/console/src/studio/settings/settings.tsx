import type { JSX } from 'preact';
import { Page } from '../ui/page.tsx';

export function Settings({ spaceId }: { spaceId: string }): JSX.Element {
  return <Page title="Settings">{null}</Page>;
}
