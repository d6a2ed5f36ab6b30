// The list of members while a person writes a mention: its candidates, and its keys.

import type { Member } from '@smartspace/client';
import { useState } from 'preact/hooks';
import { candidatesOf, completed, mentionAt, type Mention } from './mentions.ts';

export interface Mentions {
  candidates: readonly Member[];
  current: number;
  /** The text or the caret has changed. */
  follow(box: HTMLTextAreaElement): void;
  /** Handles a key. Returns whether it was meant for the list. */
  pressed(key: string): boolean;
  choose(name: string): void;
  close(): void;
}

/** `put` replaces the text, and sets the caret. */
export function useMentions(
  members: readonly Member[],
  box: { readonly current: HTMLTextAreaElement | null },
  put: (text: string, caret: number) => void,
): Mentions {
  const [mention, setMention] = useState<Mention | null>(null);
  const [current, setCurrent] = useState(0);
  const found = mention ? candidatesOf(members, mention.query) : [];
  // After a complete name, Enter sends.
  const isComplete = found.some(
    ({ name }) => name.toLocaleLowerCase() === mention?.query.toLocaleLowerCase(),
  );
  const candidates = isComplete ? [] : found;
  const { length } = candidates;
  const at = Math.min(current, length - 1);

  const close = () => setMention(null);
  const choose = (name: string) => {
    if (!mention || !box.current) return;
    const { text, caret } = completed(box.current.value, mention, name);
    close();
    put(text, caret);
  };
  return {
    candidates,
    current: at,
    follow({ value, selectionStart, selectionEnd }) {
      setMention(selectionStart === selectionEnd ? mentionAt(value, selectionStart) : null);
      setCurrent(0);
    },
    pressed(key) {
      const candidate = candidates[at];
      if (!candidate) return false;
      if (key === 'ArrowDown') setCurrent((at + 1) % length);
      else if (key === 'ArrowUp') setCurrent((at + length - 1) % length);
      else if (key === 'Enter' || key === 'Tab') choose(candidate.name);
      else if (key === 'Escape') close();
      else return false;
      return true;
    },
    choose,
    close,
  };
}
