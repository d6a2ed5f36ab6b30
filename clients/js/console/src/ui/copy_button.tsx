// The button that copies a text.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useNotify, wordsOf } from './notices.tsx';

const SHOWN_MS = 2000;

export interface CopyButtonProps {
  name: string;
  text: string;
  /** A further class. */
  class?: string;
}

/** Copies a text, and says so for a moment. Browsers allow it on secure pages only. */
export function CopyButton({ name, text, class: more = '' }: CopyButtonProps): JSX.Element | null {
  const notify = useNotify();
  const [isCopied, setIsCopied] = useState(false);
  const clipboard = globalThis.navigator?.clipboard as Clipboard | undefined;
  if (!clipboard) return null;
  const copy = async () => {
    try {
      await clipboard.writeText(text);
      setIsCopied(true);
      setTimeout(() => setIsCopied(false), SHOWN_MS);
    } catch (error) {
      notify(`The text was not copied: ${wordsOf(error)}`);
    }
  };
  return (
    <button type="button" class={`quiet ${more}`.trim()} onClick={copy}>
      {isCopied ? 'Copied' : name}
    </button>
  );
}
