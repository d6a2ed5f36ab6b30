// The runs of a list, with what set each off and what came of it. Pure.

import type { Message, Run } from '@smartspace/client';
import { excerptOf, textOf } from '../../message/message_words.ts';
import { shownName } from '../../ui/visible.ts';
import { causeOf } from './words.ts';

const MOST_CHARACTERS = 160;

/** A run of a list. A list that is asked for messages has the texts. */
export type ListedRun = Run & {
  /** The chain that it belongs to, for the operator. */
  chainId?: string | null;
};

/** The messages around the runs of a list. */
export interface RunMessages {
  byId: ReadonlyMap<string, Message>;
  /** The first message of each run. */
  byRun: ReadonlyMap<string, Message>;
}

/** What set a run off, and what came of it. */
export interface Story {
  /** Who set it off, and with which words. */
  cause: string;
  asked: string;
  /** The first words that it posted; null if it posted none, or none that is known. */
  said: string | null;
}

/** The id of the message that triggered a run. */
export const triggerIdOf = (trigger: object | null | undefined): string | null =>
  trigger && 'messageId' in trigger && typeof trigger.messageId === 'string'
    ? trigger.messageId
    : null;

/** The story of a run. Before its messages are loaded it has the number of its trigger only. */
export function storyOf(run: ListedRun, { byId, byRun }: RunMessages): Story {
  const trigger = byId.get(triggerIdOf(run.trigger) ?? '') ?? null;
  const sender = run.askedBy ?? trigger?.sender;
  const posted = byRun.get(run.id);
  return {
    cause: sender ? shownName(sender) : causeOf(run),
    asked: shortened(run.asked ?? (trigger ? textOf(trigger) : '')),
    said: saidBy(run, posted),
  };
}

function saidBy({ said }: ListedRun, posted: Message | undefined): string | null {
  const text = said ?? (posted ? textOf(posted) : null);
  return text === null || text.trim() === '' ? null : shortened(text);
}

const shortened = (text: string) => excerptOf(text, MOST_CHARACTERS);

/** Whether the run has posted a message; null if it is not known. */
export function hasSpoken({ id, said }: ListedRun, { byRun }: RunMessages): boolean | null {
  if (said !== undefined) return said !== null;
  return byRun.has(id) || null;
}
