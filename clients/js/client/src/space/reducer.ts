// The reducer of a space: a state and an event make the next state and the effects that follow.
// It reads no clock, makes no call, and changes no value that somebody else has.

import type { Draft, Effect } from './effects.ts';
import type { Moment, StateEvent } from './event.ts';
import {
  checkPresence,
  formClosed,
  formRequested,
  presenceChanged,
  runChanged,
  sendRead,
  subscribed,
  tick,
  typed,
} from './frames.ts';
import { lastSeq, startedAt } from './history.ts';
import { changeInfo, othersThan, putMembers, putRead, putSpace } from './info.ts';
import { addMessage, addMessages, addOlderPage, noteSeq } from './loading.ts';
import {
  addSend,
  attemptFailed,
  discard,
  discardedElsewhere,
  postNext,
  resend,
  stored,
  wake,
} from './outbox.ts';
import { withRuns, withStep } from './runs.ts';
import { claimMessages, isShown } from './sends.ts';
import { entered, left, listed, loaded, loadFailed, opened, watched } from './session.ts';
import { meId, type State } from './state.ts';
import { addText, checkGap, checkSilence, closeStream, streamEnded } from './writing.ts';

type Type = StateEvent['type'];
type Of<T extends Type> = StateEvent & { type: T };

const gone = (draft: Draft) => {
  draft.isGone = true;
};

/** What each event does. An event that is not listed changes nothing here. */
const HANDLE: { [T in Type]?: (draft: Draft, event: Of<T>) => void } = {
  // Frames.
  subscribed,
  pong: (draft, { spaces }) => noteSeq(draft, { seq: spaces[draft.id] ?? 0 }),
  'message.created': addMessage,
  'message.updated': addMessage,
  'stream.started': addText,
  'stream.delta': addText,
  'stream.snapshot': addText,
  'stream.ended': streamEnded,
  'run.step': (draft, { runId, step }) => {
    draft.runs = withStep(draft.runs, runId, step);
  },
  'tool.requested': formRequested,
  'tool.resolved': formClosed,
  presence: presenceChanged,
  // An error that gets here is the refusal of a subscription.
  error: gone,
  'space.deleted': gone,
  'space.left': gone,
  unsubscribed: (draft, { reason }) => {
    // Without a reason the client itself has ended its subscription.
    draft.isGone = !!reason;
  },
  'space.updated': (draft, { at, space }) =>
    changeInfo(draft, at, () =>
      // The members may be missing if they are many.
      putSpace(draft, { ...space, members: space.members ?? draft.space?.members ?? [] }),
    ),
  'member.joined': (draft, { at, member }) =>
    changeInfo(draft, at, () => putMembers(draft, [...othersThan(draft, member.id), member])),
  'member.left': (draft, { at, entityId }) =>
    changeInfo(draft, at, () => putMembers(draft, othersThan(draft, entityId))),
  'space.read': (draft, frame) => {
    for (const { entityId, seq } of frame.reads ?? [frame]) putRead(draft, entityId, seq);
  },

  // Followers of the space.
  opened,
  left,
  entered,
  watched,
  tick,

  // Answers of HTTP calls.
  caller: (draft, { caller }) => {
    draft.caller = caller;
  },
  loaded,
  loadFailed,
  listed,
  infoAsked: (draft) => {
    draft.infoAsked += 1;
  },
  infoAnswered: (draft, { asked, at, space }) => {
    // A later call has been answered.
    if (asked < draft.infoTaken) return;
    draft.infoTaken = asked;
    // An event that came meanwhile may be newer than the answer. The job asks again.
    if (draft.infoAt !== at) return;
    putSpace(draft, space);
    noteSeq(draft, space);
  },
  messages: addMessages,
  reached: noteSeq,
  olderLoading: (draft, { epoch, isLoading }) => {
    const { history } = draft;
    if (isLoading) draft.history = { ...history, loadingEpoch: epoch };
    else if (epoch === history.loadingEpoch) draft.history = { ...history, loadingEpoch: null };
  },
  olderAnswered: addOlderPage,
  runs: (draft, { runs, cursor }) => {
    draft.runs = { ...withRuns(draft.runs, runs), cursor };
  },
  runsLoaded: (draft, { until, isNewest }) => {
    const { runs } = draft;
    draft.runs = { ...runs, loadedUntil: until, isRunMissing: runs.isRunMissing && !isNewest };
  },
  runSettled: (draft, { id }) => {
    const settling = new Set(draft.runs.settling);
    settling.delete(id);
    draft.runs = { ...draft.runs, settling };
  },
  formsFound: (draft, { forms }) => {
    const found = forms.map((form) => [form.callId, form] as const);
    draft.forms = new Map([...draft.forms, ...found]);
  },
  formClosed,
  readSent: (draft, { seq }) => {
    if (seq === draft.unsentRead) draft.unsentRead = 0;
  },
  streamClosed: closeStream,
  gapDue: checkGap,
  silenceDue: checkSilence,
  presenceDue: checkPresence,

  // The person.
  read: (draft, { seq = lastSeq(draft.history) }) => {
    if (!putRead(draft, meId(draft), seq)) return;
    draft.unsentRead = seq;
    sendRead(draft);
  },
  typing: typed,
  drafted: (draft, { text }) => {
    draft.text = text;
  },
  send: addSend,
  resend,
  discard,
  discardedElsewhere,
  live: wake,
  sendDue: postNext,
  stored: (draft, { key, message }) => {
    const { history } = draft;
    stored(draft, key, message, isShown(draft, message));
    // The list of spaces may have brought later messages before this answer.
    if (draft.isLoading && message.seq < history.floor)
      draft.history = startedAt(history, message.seq - 1);
    addMessages(draft, { page: [message] });
    postNext(draft);
  },
  sendFailed: attemptFailed,
};

/** The state after an event, and what must be done outside of it, in order. */
export function reduce(state: State, event: StateEvent, moment: Moment) {
  const draft: Draft = { ...state, ...moment, effects: [] };
  const handle = HANDLE[event.type] ?? ('run' in event && event.run ? runChanged : undefined);
  (handle as ((draft: Draft, event: StateEvent) => void) | undefined)?.(draft, event);
  claimMessages(state, draft);
  const { effects, now, random, isHidden, ...next } = draft;
  return { state: next as State, effects: effects as readonly Effect[] };
}
