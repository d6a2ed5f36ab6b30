// "Jump to…": a dialog that finds spaces and pages by their names, and messages by their words.
// Ctrl K opens it.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { SwitcherDialogProps } from '../../search/switcher_dialog.tsx';
import { useNotify } from '../../ui/notices.tsx';
import { FAILED, useLater } from '../scripts.ts';

export interface SwitcherProps extends SwitcherDialogProps {
  isOpen: boolean;
  onOpen: () => void;
}

/** The dialog while it is open, and its key. */
export function Switcher({ isOpen, onOpen, ...props }: SwitcherProps): JSX.Element | null {
  // Loaded before it is opened, so that its text gets all keys.
  const { script, hasFailed } = useLater();
  const notify = useNotify();
  useEffect(() => {
    if (isOpen && hasFailed) notify(FAILED);
  }, [isOpen, hasFailed]);
  // As soon as the page shows.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      // A dialog that is open already keeps the keys.
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      onOpen();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return isOpen && script ? <script.SwitcherDialog {...props} /> : null;
}
