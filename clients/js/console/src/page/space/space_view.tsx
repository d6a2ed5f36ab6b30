// The open space: its name and members, its messages, and the form that writes one.

import { useClient, useConnection, useMe, useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { SpaceScope } from '../../api/providers.ts';
import { useSpaceMembers } from '../../members/space_members.ts';
import { Typing } from '../../members/typing.tsx';
import { NoticeLine, wordsOf } from '../../ui/notices.tsx';
import { Why } from '../../why/why.tsx';
import { Composer } from '../composer/composer.tsx';
import { Scroller } from '../timeline/scroller.ts';
import { TimelineView } from '../timeline/timeline.tsx';
import { ActiveRuns } from './active_runs.tsx';
import { LazyScores } from './lazy_scores.tsx';
import { SpaceHead } from './space_head.tsx';
import { Title } from './title.tsx';

export interface SpaceViewProps {
  spaceId: string;
  /** The message that the address names. */
  seq: number | null;
  /** The run that the drawer explains. */
  runId: string | null;
  /** The tab of the drawer. */
  tab: string | null;
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

function OpenSpace({ spaceId, seq, runId, tab, notice }: SpaceViewProps) {
  const client = useClient();
  const { space, error, isGone } = useSpace();
  const { me } = useMe();
  const members = useSpaceMembers(client.space(spaceId));
  const [scroller] = useState(() => new Scroller());
  const isLive = useConnection().state === 'live';
  const name = space?.name ?? 'Smartspace';
  // While the connection is lost, the status says so.
  const failed = error && (isLive || space === null) ? wordsOf(error) : '';
  const gone = isGone && !failed ? 'This space was deleted, or you have left it.' : '';

  return (
    <>
      <main class="page">
        <Title name={space ? name : null} />
        <SpaceHead name={name} members={members} />
        <NoticeLine text={notice || gone || failed} />
        <TimelineView members={members} scroller={scroller} seq={seq} />
        <div class="strip">
          <ActiveRuns nameOf={members.nameOf} />
          <Typing members={members} />
        </div>
        {me && space && !isGone ? (
          <Composer members={members} onSent={() => scroller.toEnd()} />
        ) : null}
      </main>
      {runId !== null && (
        <Why key={runId} runId={runId} tab={tab} members={members} scores={LazyScores} />
      )}
    </>
  );
}
