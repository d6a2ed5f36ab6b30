// One space: its state, its stores, and the methods that change it.

import type { Connection } from '../connection/connection.ts';
import type { Environment } from '../environment.ts';
import type { ClosedError } from '../errors.ts';
import type { SpaceActivity } from '../frames.ts';
import { runPath, spacePath, type Call } from '../http.ts';
import type { OwnInbox } from '../inbox.ts';
import { safeStorage } from '../storage.ts';
import { lifetime } from '../store.ts';
import { createTimers } from '../timers.ts';
import type {
  AnswerOptions,
  Caller,
  FormsState,
  Schemas,
  Space,
  SpaceInfo,
  SpaceSummary,
  Store,
} from '../types.ts';
import type { Uploads } from '../uploads.ts';
import { createAttachments } from './attachments.ts';
import { formIn } from './forms.ts';
import type { MakeChange } from './effects.ts';
import { activityShown, formClosed, markRead, typed } from './frame_changes.ts';
import { lastSeq } from './history.ts';
import { follow, runEffect, type EffectContext } from './interpreter.ts';
import { loadOlder, reload } from './jobs.ts';
import { changeMethods } from './message_changes.ts';
import { messageMethods } from './messages.ts';
import { postIfAllowed } from './outbox.ts';
import { reduce } from './reducer.ts';
import { createSendStorage } from './send_storage.ts';
import { left, applyListing, opened, watched } from './opening.ts';
import { initialState, nameOf } from './state.ts';
import { createStores } from './stores.ts';
import { readSeqOf } from './unread.ts';

/** What a space needs of the client. */
export interface SpaceContext {
  env: Environment;
  call: Call;
  connection: Connection;
  uploads: Uploads;
  /** Why the client is closed, if it is. */
  closedBy(): ClosedError | undefined;
  /** Asks once who the caller is. */
  me(): Promise<Caller>;
  /** The caller, once `me` has resolved. */
  caller(): Caller | null;
  /** The cards of all spaces that wait for the caller. */
  inbox: Pick<OwnInbox, 'find' | 'settling'>;
  /** The prefix of what the storage has for this caller. */
  storageName(): string;
  isPresent: boolean;
  /** Called after each change of the space. */
  changed(): void;
}

/** What the rest of the client needs of a space. */
export interface OwnSpace extends Space {
  /** Takes over what the list of spaces knows. */
  applyListing(info: SpaceInfo): void;
  /** There is news in the space, which nobody follows. */
  applyActivity(frame: SpaceActivity): void;
  /** Follows the space without loading its messages, until the result is called. */
  watch(): () => void;
  summary(): SpaceSummary;
  /** How far the caller has read, if that is known. */
  readSeq(): number | undefined;
}

export function createSpace(id: string, context: SpaceContext): OwnSpace {
  const { env, connection, call } = context;
  let current = initialState(id, context.caller(), context.isPresent);
  const state = () => current;
  const change: MakeChange = (...given) => {
    const before = current;
    const inputs = { now: env.now(), random: env.random() };
    const next = reduce(before, inputs, ...given);
    current = next.state;
    notify(before, current);
    // An effect may make a change at once; it then sees the state after this one.
    for (const effect of next.effects) runEffect(effectContext, effect);
  };
  const path = spacePath(id);
  const effectContext: EffectContext = {
    ...context,
    id,
    call: (method, more, options) => call(method, path + more, options),
    state,
    change,
    storageName: (kind) => `${context.storageName()}${kind}:${id}`,
    sendStorage: createSendStorage(env, context.closedBy),
    timers: createTimers(env),
    sendTimers: createTimers(env),
    waiting: new Map(),
    unfollow() {},
  };
  const retain = lifetime(env, () => {
    const release = connection.onLive(() => change(postIfAllowed));
    change(opened);
    return () => {
      change(left);
      release();
    };
  });
  const { changed } = context;
  const { main, summary, notify, ...stores } = createStores({
    env,
    state,
    change,
    retain,
    changed,
  });
  const { partOf, ...files } = createAttachments(context, path + '/attachments');
  return {
    id,
    ...main,
    ...stores,
    ...files,
    ...messageMethods(effectContext, context, partOf),
    ...changeMethods(effectContext),
    ...formMethods(effectContext, context, stores.forms),
    ...draftMethods(effectContext, context),
    ...ownMethods(effectContext),
    applyListing: (space) => change(applyListing, space, context.caller()),
    summary: summary.getSnapshot,
    applyActivity: (frame) => change(activityShown, frame),
    readSeq: () => readSeqOf(current),
  };
}

function ownMethods(effectContext: EffectContext) {
  const { state, change } = effectContext;
  return {
    loadOlder: () => loadOlder(effectContext),
    markRead: async (seq = lastSeq(state())) => change(markRead, seq),
    setTyping: (isTyping: boolean) => change(typed, isTyping),
    nameOf: (entityId: string) => nameOf(state(), entityId),
    watch() {
      change(watched, true);
      const unfollow = follow(effectContext, true);
      return () => {
        change(watched, false);
        unfollow();
      };
    },
  };
}

function formMethods(
  effectContext: EffectContext,
  { call, inbox }: SpaceContext,
  own: Store<FormsState>,
): Pick<Space, 'answer' | 'decline' | 'decide'> {
  async function settle<T>(
    callId: string,
    [route, given]: [route: string, given: object],
    stillWaits: (answer: T) => boolean,
    { senderId, signal }: AnswerOptions = {},
  ): Promise<T> {
    const [form, item] = [formIn(own, callId), inbox.find(callId)];
    const runId = form?.runId ?? item?.runId;
    if (!runId) throw new Error(`The form ${callId} is not open.`);
    const path = `${runPath(runId)}/toolCalls/${encodeURIComponent(callId)}/${route}`;
    const body = { ...given, senderId };
    try {
      const act = () => call<T>('POST', path, { body, retry: true, signal });
      const answer = await inbox.settling(callId, act, stillWaits);
      if (!stillWaits(answer)) effectContext.change(formClosed, { callId });
      return answer;
    } finally {
      // Also after a failure: the form may be closed, or the response was lost.
      const messageId = form?.messageId ?? item?.id;
      const card = effectContext.state().messages.find((each) => each.id === messageId);
      if (card) reload(effectContext, [card.seq]).catch(() => {});
    }
  }
  const resolve = async (callId: string, result: object, options?: AnswerOptions) => {
    await settle(callId, ['result', result], () => false, options);
  };
  return {
    answer: (callId, output, options) => resolve(callId, { output }, options),
    decline: (callId, reason, options) => resolve(callId, { declined: true, reason }, options),
    async decide(callId, decision, options) {
      const isYes = ['approve', 'edit'].includes(decision.action);
      // What the caller has not seen is not approved.
      const seen = formIn(own, callId)?.approval ?? inbox.find(callId);
      const made =
        isYes && seen ? { inputRevision: seen.inputRevision ?? 0, ...decision } : decision;
      const stillWaits = ({ approvals }: Schemas['DecisionResponse']) =>
        isYes && approvals.given < approvals.needed;
      return (await settle(callId, ['decision', made], stillWaits, options)).approvals;
    },
  };
}

function draftMethods(
  { env, storageName }: EffectContext,
  { caller }: SpaceContext,
): Pick<Space, 'getDraft' | 'setDraft'> {
  const storage = safeStorage(env);
  // Undefined until the storage was read.
  let text: string | undefined;
  // Drafts of different people on one machine must not mix.
  const name = () => caller() && storageName('draft');
  return {
    getDraft() {
      const at = name();
      if (at) text ??= storage.get(at) ?? '';
      return text ?? '';
    },
    setDraft(given) {
      text = given;
      const at = name();
      if (!at) return;
      if (text) storage.set(at, text);
      else storage.remove(at);
    },
  };
}
