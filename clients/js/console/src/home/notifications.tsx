// Notifications of the browser: of mentions and of what waits, while the page is open out of sight.

import type { InboxState, MentionsState } from '@smartspace/client';
import { useInbox, useMentions } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { headingOf } from '../forms/card/waiting.ts';
import { open, hashOf } from '../navigation/address.ts';
import { visible } from '../ui/visible.ts';

interface Notice {
  /** The browser shows a notice of several tabs once. */
  tag: string;
  title: string;
  body: string;
  href: string;
}

/** The button that asks for the permission, once there is something to be notified of. */
export function Notifications(): JSX.Element | null {
  const [inbox, mentions] = [useInbox(), useMentions()];
  const [permission, setPermission] = useState(() => globalThis.Notification?.permission);
  const notices = noticesOf(inbox, mentions);
  useNotices(notices, inbox.isLoading || mentions.isLoading);
  if (permission !== 'default' || notices.length === 0) return null;
  const ask = () => void Notification.requestPermission().then(setPermission);
  return (
    <button type="button" class="notify" onClick={ask}>
      Notify me of these
    </button>
  );
}

/** What a reader is notified of, as the lists have it. */
export function noticesOf(
  { items }: Pick<InboxState, 'items'>,
  mentions: Pick<MentionsState, 'items'>,
): Notice[] {
  return [
    ...items.map((item) => ({
      tag: item.callId,
      title: headingOf(item),
      body: `${visible(item.agent.name)} asks in ${visible(item.spaceName)}`,
      href: hashOf(item.spaceId, item.seq),
    })),
    ...mentions.items.map(({ spaceId, spaceName, message }) => ({
      tag: message.id,
      title: `${visible(message.sender.name)} mentions you`,
      body: `in ${visible(spaceName)}`,
      href: hashOf(spaceId, message.seq),
    })),
  ];
}

// Notifies of those that come after the lists were loaded.
function useNotices(notices: readonly Notice[], isLoading: boolean) {
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (isLoading) return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...notices.map(({ tag }) => tag)]);
    if (!before || document.visibilityState === 'visible') return;
    for (const notice of notices) if (!before.has(notice.tag)) show(notice);
  });
}

function show({ tag, title, body, href }: Notice) {
  if (globalThis.Notification?.permission !== 'granted') return;
  const shown = new Notification(title, { body, tag });
  shown.onclick = () => {
    focus();
    open(href);
    shown.close();
  };
}
