// The reducer of a space: a state and a change make the next state and the effects that follow. It
// reads no clock, makes no call, and changes no value that somebody else has.

import type { RunEvent, ServerFrame } from '../frames.ts';
import type { Change, Draft, Inputs } from './effects.ts';
import {
  activityShown,
  formClosed,
  formRequested,
  positionsMoved,
  presenceChanged,
  runChanged,
  subscribed,
} from './frame_changes.ts';
import { changeInfo, putMember, putSpace } from './members.ts';
import { putLines } from './history.ts';
import { addMessage, noteSeq, putReactions } from './loading.ts';
import { addHints, putStep } from './runs.ts';
import { claimMessages } from './claims.ts';
import type { State } from './state.ts';
import { addText, streamEnded } from './stream_lifetime.ts';

type Type = ServerFrame['type'];
type Of<T extends Type> = ServerFrame & { type: T };

const gone: Change = (draft) => {
  draft.isGone = true;
};

/** What each frame does. A frame that is not listed changes nothing here. */
const FRAME_HANDLERS: { [T in Type]?: (draft: Draft, frame: Of<T>) => unknown } = {
  subscribed,
  pong: (draft, frame) => noteSeq(draft, frame.spaces[draft.id] ?? 0),
  'message.created': addMessage,
  'message.updated': addMessage,
  reactions: (draft, { items }) => putReactions(draft, items),
  'stream.started': addText,
  'stream.delta': addText,
  'stream.snapshot': addText,
  'stream.ended': streamEnded,
  'run.step': putStep,
  'system.message': (draft, { runId, watcher, text, at, private: isPrivate }) =>
    isPrivate || addHints(draft, runId, [{ watcher, text, at }]),
  'tool.requested': formRequested,
  'tool.resolved': formClosed,
  presence: presenceChanged,
  // An error that gets here is the refusal of a subscription.
  error: gone,
  'space.deleted': gone,
  'space.left': gone,
  unsubscribed: (draft, frame) => {
    // Without a reason the client itself has ended its subscription.
    draft.isGone = !!frame.reason;
  },
  'space.updated': (draft, { at, space }) =>
    changeInfo(draft, at, () =>
      // The members may be missing if they are many.
      putSpace(draft, { ...space, members: space.members ?? draft.space?.members ?? [] }),
    ),
  'space.line': (draft, { line }) => putLines(draft, [line]),
  'member.joined': (draft, frame) =>
    changeInfo(draft, frame.at, () => putMember(draft, frame.member.id, frame.member)),
  'member.left': (draft, frame) =>
    changeInfo(draft, frame.at, () => putMember(draft, frame.entityId)),
  'space.read': positionsMoved,
  'space.activity': activityShown,
};

/** A frame has come. */
export function frameReceived(draft: Draft, frame: ServerFrame) {
  const isOfRun = (frame as Partial<RunEvent>).run;
  const handler = FRAME_HANDLERS[frame.type] ?? (isOfRun && runChanged);
  (handler as Change<[ServerFrame]> | undefined)?.(draft, frame);
}

/** The state after a change, and what must be done outside of it, in order. */
export function reduce<Given extends unknown[]>(
  state: State,
  inputs: Inputs,
  change: Change<Given>,
  ...given: Given
) {
  const draft: Draft = { ...state, ...inputs, effects: [] };
  change(draft, ...given);
  claimMessages(state, draft);
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- they are no state
  const { effects, now, random, ...next } = draft;
  return { state: next as State, effects };
}
