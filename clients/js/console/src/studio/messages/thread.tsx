// The drawer with a thread: a message, all replies to it, and a box that writes another one.

import type { Message, TimelineItem } from '@smartspace/client';
import { useThread } from '@smartspace/react';
import type { ComponentType, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { SpaceMembers } from '../../members/space_members.ts';
import { CommandsContext, useCommands } from '../../message/commands.ts';
import { openThread } from '../../navigation/address.ts';
import { CopyButton } from '../../ui/copy_button.tsx';
import { useDrawerFocus } from '../../ui/drawer_focus.ts';
import { useHasRoomForDrawer } from '../../ui/is_wide.ts';
import { wordsOf } from '../../ui/notices.tsx';
import { ThreadBox } from './thread_box.tsx';

export interface ThreadProps {
  /** The first message of the thread. */
  seq: number;
  members: SpaceMembers;
  /** Shows messages as the timeline does. */
  list: ComponentType<{ items: readonly TimelineItem[]; members: SpaceMembers; label: string }>;
}

export function Thread({ seq, members, list: List }: ThreadProps): JSX.Element {
  const { items, isLoading, error } = useThread(seq);
  const commands = useCommands();
  const [chosen, setChosen] = useState<Message | null>(null);
  const heading = useDrawerFocus();
  const isPage = !useHasRoomForDrawer();
  const last = items.flatMap((item) => (item.type === 'message' ? [item.message] : [])).at(-1);
  const parent = chosen ?? last ?? null;
  const isAlone =
    last?.seq === seq && items.every(({ type }) => type === 'message' || type === 'day');
  const own = useMemo(() => {
    const edit = (message: Message) => {
      // The composer is on the page that the drawer covers.
      if (isPage) openThread(null);
      commands.edit(message);
    };
    return { ...commands, edit, reply: setChosen };
  }, [commands, isPage]);
  return (
    <div
      class="drawer thread"
      role={isPage ? 'main' : 'complementary'}
      aria-labelledby="thread"
      onKeyDown={({ key }) => key === 'Escape' && openThread(null)}
    >
      <div class="drawer-head">
        <h2 id="thread" ref={heading} tabIndex={-1} aria-level={isPage ? 1 : undefined}>
          Thread
        </h2>
        <CopyButton name="Link" text={location.href} />
        <button type="button" class="quiet" aria-label="Close" onClick={() => openThread(null)}>
          ×
        </button>
      </div>
      <p class="problem" role="alert">
        {error ? wordsOf(error) : ''}
      </p>
      <div class="thread-list">
        {isLoading && items.length === 0 ? <p class="empty">Loading…</p> : null}
        <CommandsContext.Provider value={own}>
          <List items={items} members={members} label="Thread" />
        </CommandsContext.Provider>
        {isAlone && !isLoading ? <p class="empty">No replies yet.</p> : null}
      </div>
      {parent ? (
        <ThreadBox
          parent={parent}
          isChosen={chosen !== null}
          members={members}
          onSent={() => setChosen(null)}
        />
      ) : null}
    </div>
  );
}
