// The open space: its name and members, its messages, and the form that writes one.

import type { Message } from '@smartspace/client';
import { useClient, useConnection, useMe, useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { SpaceScope } from '../../api/providers.ts';
import { useSpaceMembers } from '../../members/space_members.ts';
import { Typing } from '../../members/typing.tsx';
import { NoSuchPage } from '../../navigation/no_such_page.tsx';
import { NoticeLine, wordsOf } from '../../ui/notices.tsx';
import { preloadScripts } from '../../ui/script.ts';
import { Composer } from '../composer/composer.tsx';
import type { Target } from '../composer/use_target.ts';
import { CommandsContext } from '../../message/commands.ts';
import { MessageList } from '../timeline/message_list.tsx';
import { Scroller } from '../timeline/scroller.ts';
import { TimelineView } from '../timeline/timeline.tsx';
import { ActiveRuns } from './active_runs.tsx';
import { LazyChain, LazyFork, LazyScores, LazyWhy } from './lazy_why.tsx';
import { MessageDialog, type Asked } from './message_dialog.tsx';
import { PinsLine } from './pins_line.tsx';
import { LazyThread } from './lazy_thread.tsx';
import { SpaceHead } from './space_head.tsx';
import { Title } from './title.tsx';

const WHY_PARTS = { scores: LazyScores, chain: LazyChain, fork: LazyFork };

export interface SpaceViewProps {
  spaceId: string;
  /** The message that the address names. */
  seq: number | null;
  /** The run that the drawer explains. */
  runId: string | null;
  /** The tab of the drawer. */
  tab: string | null;
  /** The first message of the thread in the drawer. */
  thread: number | null;
  /** What failed outside of the timeline, or ''. */
  notice: string;
}

export function SpaceView({ spaceId, ...props }: SpaceViewProps): JSX.Element {
  return (
    <SpaceScope key={spaceId} id={spaceId}>
      <OpenSpace key={spaceId} spaceId={spaceId} {...props} />
    </SpaceScope>
  );
}

function OpenSpace({ spaceId, seq, runId, tab, thread, notice }: SpaceViewProps) {
  const client = useClient();
  const { space, error, isGone } = useSpace();
  const { me } = useMe();
  const members = useSpaceMembers(client.space(spaceId));
  const [scroller] = useState(() => new Scroller());
  const [target, setTarget] = useState<Target | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const commands = useMemo(
    () => ({
      reply: (message: Message) => setTarget({ type: 'reply', message }),
      edit: (message: Message) => setTarget({ type: 'edit', message }),
      askToDelete: (message: Message) => setAsked({ type: 'delete', message }),
      chooseEmoji: (message: Message) => setAsked({ type: 'emoji', message }),
    }),
    [],
  );
  useEffect(preloadScripts, []);
  const isLive = useConnection().state === 'live';
  const name = space?.name ?? 'Smartspace';
  // While the connection is lost, the status says so.
  const failed = error && (isLive || space === null) ? wordsOf(error) : '';
  const gone = isGone && !failed ? 'This space was deleted, or you have left it.' : '';

  if (!space && error && 'status' in error && error.status === 404)
    return <NoSuchPage what="space" />;
  return (
    <CommandsContext.Provider value={commands}>
      <main class="page">
        <Title name={space ? name : null} />
        <SpaceHead name={name} members={members} />
        <PinsLine members={members} />
        <NoticeLine text={notice || gone || failed} />
        <TimelineView {...{ members, scroller, seq, runId }} />
        <div class="strip">
          <ActiveRuns nameOf={members.nameOf} isGuest={members.isGuest} />
          <Typing members={members} />
        </div>
        {me && space && !isGone ? (
          <Composer
            members={members}
            target={target}
            onTarget={setTarget}
            onSent={() => scroller.toEnd()}
          />
        ) : null}
      </main>
      {runId !== null && <LazyWhy key={runId} {...{ runId, tab, members }} {...WHY_PARTS} />}
      {thread !== null && (
        <LazyThread key={thread} seq={thread} members={members} list={MessageList} />
      )}
      {asked && <MessageDialog asked={asked} members={members} onClose={() => setAsked(null)} />}
    </CommandsContext.Provider>
  );
}
