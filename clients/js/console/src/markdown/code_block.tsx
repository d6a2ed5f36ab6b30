// A block of code with a button that copies it.

import type { JSX } from 'preact';
import { CopyButton } from '../ui/copy_button.tsx';
import { visible } from '../ui/visible.ts';

export interface CodeBlockProps {
  text: string;
  /** The language that its author gave, or ''. */
  language: string;
}

export const CodeBlock = ({ text, language }: CodeBlockProps): JSX.Element => (
  <div class="code">
    <pre tabIndex={0} aria-label={language === '' ? 'Code' : `Code in ${language}`}>
      <code>{visible(text.replace(/\n$/, ''))}</code>
    </pre>
    <CopyButton name="Copy" text={text} class="copy" />
  </div>
);
