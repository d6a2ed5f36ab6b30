// Everything that can happen to a space. The reducer makes the next state of it.

import type { ServerFrame } from '../events.ts';
import type { Caller, Form, Message, PendingSend, Run, SpaceInfo } from '../types.ts';

/** A frame of the server, an answer of a call, an act of the person, a timer. */
export type StateEvent = ServerFrame | FollowEvent | AnswerEvent | SendEvent | PersonEvent | Due;

/** The clock, randomness and the page are inputs of the reducer too. */
export interface Moment {
  /** Milliseconds since 1970. */
  now: number;
  /** From 0 to 1. */
  random: number;
  /** Whether the person can't see the page. */
  isHidden: boolean;
}

type FollowEvent =
  | { type: 'opened' }
  | { type: 'left' }
  /** The space was loaded in this session, and its live events follow. */
  | { type: 'entered' }
  | { type: 'watched'; isWatched: boolean }
  /** The connection pinged the server, or the page was shown or hidden. */
  | { type: 'tick' };

/** What HTTP calls have brought. */
type AnswerEvent =
  | { type: 'caller'; caller: Caller }
  | {
      type: 'loaded';
      /** Whether nothing was known of the space when the call was made. */
      isFirst: boolean;
      /** The floor of the messages when the call was made. */
      floor: number;
      space: SpaceInfo;
      page: readonly Message[];
      /** Where the storage has the sends of this space, and those that an earlier page left. */
      prefix: string;
      restored: readonly PendingSend[];
    }
  | { type: 'loadFailed'; error: Error; isRetried: boolean }
  /** The list of spaces has this space. */
  | { type: 'listed'; space: SpaceInfo }
  | { type: 'infoAsked' }
  /** `asked` is the number of the call, `at` the newest event that was known when it was made. */
  | { type: 'infoAnswered'; asked: number; at: string; space: SpaceInfo }
  | { type: 'messages'; page: readonly Message[] }
  /** An older page is being loaded in this epoch of the history, or not any longer. */
  | { type: 'olderLoading'; epoch: number; isLoading: boolean }
  | { type: 'olderAnswered'; epoch: number; page: readonly Message[] }
  /** A page of runs, and where the next one begins. */
  | { type: 'runs'; runs: readonly Run[]; cursor: string | null }
  /** The runs of all messages up to `until` are loaded; with `isNewest`, also the newest ones. */
  | { type: 'runsLoaded'; until: number; isNewest: boolean }
  | { type: 'formsFound'; forms: readonly Form[] }
  | { type: 'readSent'; seq: number }
  /** The space has messages up to this one. */
  | { type: 'reached'; seq: number }
  /** An open form has a result. */
  | { type: 'formClosed'; callId: string }
  /** No message has replaced this stream. */
  | { type: 'streamClosed'; streamId: string };

/** The way of a message of the person. */
type SendEvent =
  | { type: 'send'; key: string; content: SendContent }
  /** `isMarked`: another tab has discarded the send. */
  | { type: 'resend'; key: string; newKey: string; isMarked: boolean }
  | { type: 'discard'; key: string }
  /** Another tab has discarded the send that was about to be posted. */
  | { type: 'discardedElsewhere'; key: string }
  /** The connection is live, so the server may be reachable again. */
  | { type: 'live' }
  | { type: 'stored'; key: string; message: Message }
  | { type: 'sendFailed'; key: string; error: Error };

type PersonEvent =
  /** The person has read up to this seq, or everything. */
  | { type: 'read'; seq: number | undefined }
  | { type: 'typing'; isTyping: boolean }
  | { type: 'drafted'; text: string };

/** What a timer brings. `id` is what it is about. */
export type Due =
  | { type: 'gapDue'; id: string }
  | { type: 'silenceDue' }
  | { type: 'presenceDue' }
  | { type: 'runSettled'; id: string }
  /** A pause before the next attempt to send is over. */
  | { type: 'sendDue' };

/** What a person sends. */
export type SendContent = Pick<PendingSend, 'text' | 'files' | 'senderId'>;
