// A block of code with a button that copies it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

export interface CodeBlockProps {
  text: string;
  /** The language that its author gave, or ''. */
  language: string;
}

/** Shows code. */
export function CodeBlock({ text, language }: CodeBlockProps): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  // Browsers allow it on secure pages only.
  const clipboard = globalThis.navigator?.clipboard as Clipboard | undefined;
  const copy = () =>
    clipboard?.writeText(text).then(
      () => setCopied(true),
      () => {},
    );
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={language === '' ? 'Code' : `Code in ${language}`}>
        <code>{text.replace(/\n$/, '')}</code>
      </pre>
      {clipboard ? (
        <button type="button" class="quiet copy" onClick={copy}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      ) : null}
    </div>
  );
}
