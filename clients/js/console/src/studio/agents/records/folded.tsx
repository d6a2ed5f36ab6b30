// A text that is folded if it is long.

import type { JSX } from 'preact';
import { excerptOf } from '../../../message/message_words.ts';

const MOST_CHARACTERS = 240;
const BEGINNING = 160;
const MOST_LINES = 4;

/** The text, or its beginning and a fold with all of it. */
export function Folded({ text }: { text: string }): JSX.Element {
  if (text.length <= MOST_CHARACTERS && text.split('\n').length <= MOST_LINES)
    return (
      <p class="record-text" dir="auto">
        {text}
      </p>
    );
  return (
    <details class="record-fold">
      <summary dir="auto">{excerptOf(text, BEGINNING)}</summary>
      <p class="record-text" dir="auto">
        {text}
      </p>
    </details>
  );
}
