// What one can do with an entry: see why it is there, copy its text, copy its address.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { hashOf, openWhy } from './address.ts';
import type { Entry } from './bubbles.ts';
import { useNotify, wordsOf } from './notices.ts';

const SHOWN_MS = 2000;

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

interface CopyButtonProps {
  name: string;
  text: string;
}

/** Copies a text, and says so for a moment. */
export function CopyButton({ name, text }: CopyButtonProps): JSX.Element {
  const notify = useNotify();
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
      setTimeout(() => setIsCopied(false), SHOWN_MS);
    } catch (error) {
      notify(`The text was not copied: ${wordsOf(error)}`);
    }
  };
  return (
    <button type="button" class="quiet" aria-label={isCopied ? undefined : name} onClick={copy}>
      {isCopied ? 'Copied' : name}
    </button>
  );
}
