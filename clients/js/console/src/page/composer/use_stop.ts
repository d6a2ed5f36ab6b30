// Esc in the message box: it stops the agents that think or write.

import type { ActiveRun } from '@smartspace/client';
import { useClient, useRuns, useTimeline } from '@smartspace/react';
import { useEffect, useState } from 'preact/hooks';
import type { SpaceMembers } from '../../members/space_members.ts';
import { useNotify, wordsOf } from '../../ui/notices.tsx';

const ASKED_MS = 3000;

export interface Stopping {
  /**
   * Stops the answers to the caller's own messages. If there are none, it asks before it stops
   * those to others. Guests stop nothing. Returns whether there was something to stop.
   */
  stop: () => boolean;
  /** The question, or ''. */
  asked: string;
}

export function useStop({ isGuest, senderId, meId }: SpaceMembers): Stopping {
  const client = useClient();
  const notify = useNotify();
  const { active } = useRuns();
  const { items } = useTimeline();
  const [isAsking, setIsAsking] = useState(false);
  useEffect(() => {
    if (!isAsking) return;
    const timer = setTimeout(() => setIsAsking(false), ASKED_MS);
    return () => clearTimeout(timer);
  }, [isAsking]);

  const isOwn = ({ runId }: ActiveRun) =>
    items.some(
      (item) =>
        item.type === 'message' &&
        item.message.sender.id === (senderId ?? meId) &&
        item.message.dispatch?.some((each) => each.runId === runId),
    );
  const stop = () => {
    const working = active.filter(({ status }) => status !== 'waiting_tool');
    if (isGuest || working.length === 0) return false;
    const own = working.filter(isOwn);
    if (own.length === 0 && !isAsking) {
      setIsAsking(true);
      return true;
    }
    setIsAsking(false);
    for (const { runId } of own.length > 0 ? own : working)
      client.runs.cancel(runId).catch((error) => notify(wordsOf(error)));
    return true;
  };
  return { stop, asked: isAsking ? 'Press Esc again to stop answers to others' : '' };
}
