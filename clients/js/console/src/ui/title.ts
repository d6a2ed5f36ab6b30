// The title of the window: what is open, and how much is unread or waits for the caller.

import { useInbox, useUnread } from '@smartspace/react';
import { useEffect } from 'preact/hooks';

/** Sets the title. `shown` is what is open, null if nothing is. */
export function useTitle(shown: string | null): void {
  const count = useUnread() + useInbox().items.length;
  useEffect(() => {
    const title = shown === null ? 'Smartspace' : `${shown} · Smartspace`;
    document.title = count > 0 ? `(${count}) ${title}` : title;
  }, [shown, count]);
}
