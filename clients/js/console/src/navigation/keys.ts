// Single keys that act on the page, while no text is typed.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { INBOX, open } from './address.ts';

// Longer ago, a key begins nothing.
const SEQUENCE_MS = 1500;
const TYPED_IN = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]';

/** The key, unless it belongs to a text, a menu, a dialog or a shortcut of the browser. */
export function plainKey(event: KeyboardEvent): string | null {
  const { target, ctrlKey, metaKey, altKey, isComposing } = event;
  if (ctrlKey || metaKey || altKey || isComposing || event.defaultPrevented) return null;
  const isTyped = target instanceof Element && target.closest(TYPED_IN) !== null;
  return isTyped || document.querySelector('dialog[open]') ? null : event.key;
}

/** `g i` opens what waits for the caller, and `?` the list of keys. */
export function useGoKeys(onHelp: () => void): void {
  const begunAt = useRef(-Infinity);
  // As soon as the page shows.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const key = plainKey(event);
      if (key === 'i' && event.timeStamp - begunAt.current < SEQUENCE_MS) {
        event.preventDefault();
        open(INBOX);
      }
      if (key === '?') {
        event.preventDefault();
        onHelp();
      }
      begunAt.current = key === 'g' ? event.timeStamp : -Infinity;
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}
