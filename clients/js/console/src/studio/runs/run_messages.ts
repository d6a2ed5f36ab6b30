// The messages around the runs of a list: those that set runs off, and those that runs posted. A
// list without texts needs them, and they say which runs belong to one chain.

import type { Message } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { spacePath } from '../../api/paths.ts';
import type { ListedRun, RunMessages } from './listed.ts';

const PAGE = 200;
// A run mostly posts soon after its trigger.
const AFTER = 8;

/** A part of a space's messages: from a number on, to another one. */
export interface MessageRange {
  spaceId: string;
  from: number;
  to: number;
}

/** The messages of these runs, as far as they are loaded. */
export function useRunMessages(runs: readonly ListedRun[]): RunMessages {
  const client = useClient();
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const asked = useRef(new Set<string>()).current;
  useEffect(() => {
    const missing = runs.filter((run) => needsMessages(run) && !asked.has(stateKey(run)));
    missing.forEach((run) => asked.add(stateKey(run)));
    for (const { spaceId, from, to } of rangesOf(missing)) {
      const path = `${spacePath(spaceId, 'messages')}?after=${from - 1}&limit=${to - from + 1}`;
      client
        .request<{ items: Message[] }>('GET', path, { retry: true })
        .then(({ items }) => setMessages((before) => [...before, ...items]))
        .catch(() => {}); // The space may be deleted. The rows say the numbers of the messages.
    }
  }, [client, runs, asked]);
  return useMemo(() => indexOf(messages), [messages]);
}

/** The parts of spaces that have the triggers of these runs and what follows each of them. */
export function rangesOf(runs: readonly ListedRun[]): MessageRange[] {
  const bySpace = new Map<string, number[]>();
  for (const { trigger, activeSpaceId } of runs)
    if ('seq' in trigger && activeSpaceId)
      bySpace.set(activeSpaceId, [...(bySpace.get(activeSpaceId) ?? []), trigger.seq]);
  const ranges: MessageRange[] = [];
  for (const [spaceId, numbers] of bySpace)
    for (const seq of numbers.sort((one, other) => one - other)) {
      const last = ranges.at(-1);
      const to = seq + AFTER;
      if (last?.spaceId === spaceId && to - last.from < PAGE && seq <= last.to + AFTER)
        last.to = to;
      else ranges.push({ spaceId, from: seq, to });
    }
  return ranges;
}

/** The messages by their ids, and the first one of each run. */
export function indexOf(messages: readonly Message[]): RunMessages {
  const byRun = new Map<string, Message>();
  for (const message of messages) {
    const { runId } = message;
    if (runId === null || message.parts.some(({ type }) => type === 'tool')) continue;
    const before = byRun.get(runId);
    if (!before || message.seq < before.seq) byRun.set(runId, message);
  }
  return { byId: new Map(messages.map((message) => [message.id, message])), byRun };
}

// A run posts while it works, so its messages are loaded again at its end.
const stateKey = ({ id, finishedAt }: ListedRun) => `${id} ${finishedAt ?? ''}`;

const needsMessages = ({ asked, chainId, chainDepth }: ListedRun) =>
  asked === undefined || (chainId === undefined && chainDepth > 0);
