// What one can do with an entry: see why it is there, copy its text, copy its address.

import type { JSX } from 'preact';
import { hashOf, openWhy } from './address.ts';
import type { Entry } from './bubbles.ts';
import { CopyButton } from './copy_button.tsx';

/** The actions of an entry that is stored or has failed. */
export function Actions({ item, spaceId }: { item: Entry; spaceId: string }): JSX.Element | null {
  if (item.type === 'failed') return <Row>{<WhyButton runId={item.run.id} />}</Row>;
  if (item.type !== 'message') return null;
  const { parts, runId, seq } = item.message;
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const address = `${location.origin}${location.pathname}${hashOf(spaceId, seq)}`;
  return (
    <Row>
      {runId ? <WhyButton runId={runId} /> : null}
      {text ? <CopyButton name="Copy" text={text} /> : null}
      <CopyButton name="Link" text={address} />
    </Row>
  );
}

const Row = ({ children }: { children: JSX.Element | (JSX.Element | null)[] }) => (
  <div class="actions">{children}</div>
);

const WhyButton = ({ runId }: { runId: string }) => (
  <button type="button" class="quiet" onClick={() => openWhy(runId)}>
    Why?
  </button>
);
