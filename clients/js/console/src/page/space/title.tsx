// The title of the window: the open space, and how much is unread.

import { useUnread } from '@smartspace/react';
import { useEffect } from 'preact/hooks';

/** Sets the title. `name` is that of the open space. */
export function Title({ name }: { name: string | null }): null {
  const unread = useUnread();
  useEffect(() => {
    const title = name === null ? 'Smartspace' : `${name} · Smartspace`;
    document.title = unread > 0 ? `(${unread}) ${title}` : title;
  }, [name, unread]);
  return null;
}
