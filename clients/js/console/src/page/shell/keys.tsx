// The list of keys, once it is loaded.

import type { JSX } from 'preact';
import { useLater } from '../scripts.ts';

interface KeysProps {
  isOpen: boolean;
  onClose: () => void;
}

export function Keys({ isOpen, onClose }: KeysProps): JSX.Element | null {
  const { script } = useLater();
  return isOpen && script ? <script.KeysDialog onClose={onClose} /> : null;
}
