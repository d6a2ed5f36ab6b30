// `j` and `k` go through the links of a list. Enter opens the one with the focus.

import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { plainKey } from '../../../navigation/keys.ts';

const STEPS: Readonly<Record<string, number>> = { j: 1, k: -1 };

export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  // As soon as the rows show.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const step = STEPS[plainKey(event) ?? ''];
      const links = [...(list.current?.querySelectorAll<HTMLElement>('a') ?? [])];
      if (step === undefined || links.length === 0) return;
      const focused = links.findIndex((link) => link === document.activeElement);
      const current = links.findIndex((link) => link.ariaCurrent);
      // The first key shows which row is the current one.
      const place = focused < 0 ? current : focused + step;
      links[Math.min(links.length - 1, Math.max(0, place))]?.focus();
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}
