// The list of spaces: one stop of the Tab key, in which the arrow keys move.

import type { MentionItem, SpaceSummary } from '@smartspace/client';
import { useClient, useMentions } from '@smartspace/react';
import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import { hashOf } from '../../navigation/address.ts';
import { briefTime } from '../../ui/times.ts';
import { lastLineOf, type LastMessage } from './last_line.ts';

// Further spaces show if they have news.
const MOST = 12;

export interface SpaceListProps {
  spaces: readonly SpaceSummary[];
  currentId: string | null;
}

export function SpaceList({ spaces, currentId }: SpaceListProps): JSX.Element {
  const client = useClient();
  const { items } = useMentions();
  const [isOpen, setIsOpen] = useState(false);
  const [stop, setStop] = useState<string | null>(null);
  const shown = spaces.filter(
    ({ id, unread }, place) => isOpen || place < MOST || unread > 0 || id === currentId,
  );
  const hidden = spaces.length - shown.length;
  const stopId = [stop, currentId].find((each) => shown.some(({ id }) => id === each));
  const isUnread = ({ spaceId, message }: MentionItem) =>
    message.seq > (client.space(spaceId).getSnapshot().space?.me?.readSeq ?? Infinity);
  const mentions = items.filter(isUnread);
  return (
    <ul id="spaces" class="spaces" onKeyDown={move}>
      {shown.map(({ id, name, unread, lastMessage, paused }) => (
        <SpaceLine
          key={id}
          {...{ id, name, unread, lastMessage, paused, onStop: setStop }}
          mentions={mentions.filter(({ spaceId }) => spaceId === id).length}
          isCurrent={id === currentId}
          isStop={id === (stopId ?? shown[0]?.id)}
        />
      ))}
      {hidden > 0 || isOpen ? (
        <li>
          <button type="button" tabIndex={-1} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? 'Fewer' : `${hidden} more without news`}
            <span aria-hidden="true">{isOpen ? '▴' : '▾'}</span>
          </button>
        </li>
      ) : null}
    </ul>
  );
}

interface SpaceLineProps extends Pick<SpaceSummary, 'id' | 'name' | 'unread' | 'paused'> {
  lastMessage: LastMessage | null;
  mentions: number;
  isCurrent: boolean;
  /** The Tab key stops here. */
  isStop: boolean;
  onStop: (id: string) => void;
}

const SpaceLine = memo(function SpaceLine(props: SpaceLineProps) {
  const { id, name, unread, lastMessage, paused, mentions, isCurrent, isStop, onStop } = props;
  const last = lastMessage && lastLineOf(lastMessage);
  const at = paused ? (
    <span class="badge paused">paused</span>
  ) : (
    last && <time aria-hidden="true">{briefTime(last.at, Date.now())}</time>
  );
  return (
    <li>
      <a
        href={hashOf(id)}
        title={name}
        tabIndex={isStop ? 0 : -1}
        aria-current={isCurrent ? 'page' : undefined}
        onFocus={() => onStop(id)}
      >
        <span dir="auto">{name}</span>
        {unread > 0 ? <Unread {...{ unread, mentions }} /> : at}
        {unread > 0 && last ? (
          <>
            <span class="note" dir="auto" aria-hidden="true">
              {last.text}
            </span>
            {at}
          </>
        ) : null}
      </a>
    </li>
  );
});

const Unread = ({ unread, mentions }: { unread: number; mentions: number }) => (
  <span class={mentions > 0 ? 'unread-count mentioned' : 'unread-count'}>
    {mentions > 0 ? <span aria-hidden="true">@{mentions} </span> : null}
    <span class={mentions > 0 ? 'unseen' : undefined}>{unread}</span>
    <span class="unseen"> unread{mentions > 0 ? `, ${mentions} with your name` : ''}</span>
  </span>
);

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

function move(event: KeyboardEvent & { currentTarget: HTMLElement }) {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('a, button')];
  const step = STEPS[event.key];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = { Home: rows[0], End: rows.at(-1) }[event.key] ?? (step && rows[at + step]);
  if (!next) return;
  event.preventDefault();
  next.focus();
}
