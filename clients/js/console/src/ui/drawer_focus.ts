// The focus goes to the heading of a drawer that opens, and back when it closes.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** The heading of the drawer. */
export function useDrawerFocus(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    heading.current?.focus();
    // In a narrow window the drawer has hidden it until now. Another part may have taken the focus.
    const restore = () => {
      if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
    };
    return () => void setTimeout(restore);
  }, []);
  return heading;
}
