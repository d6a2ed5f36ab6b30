// The shapes of the client's public API. Those of the HTTP API are in schemas.ts, those of a search
// in search_types.ts, and the options of methods in options.ts.

import type {
  AnswerOptions,
  AttachOptions,
  EditOptions,
  FileUrlOptions,
  MessageOptions,
  NewFile,
  PreviewOptions,
  SendOptions,
} from './options.ts';
import type {
  AnswerBy,
  Approval,
  ApprovalCount,
  Attachment,
  Decision,
  Dispatch,
  FilePart,
  Hint,
  InboxItem,
  LastMessage,
  Member,
  Message,
  Run,
  Sender,
  SpaceInfo,
  SystemLine,
  ToolPart,
} from './schemas.ts';

export type * from './options.ts';
export type * from './schemas.ts';
export type * from './search_types.ts';

/** Something that can be followed: the interface of React's `useSyncExternalStore`. */
export interface Store<T> {
  /**
   * Calls `listener` after each change, until the returned function is called. The first subscriber
   * starts the work behind the store, and the last one ends it a moment later.
   */
  subscribe(listener: () => void): () => void;
  /** The present value. It stays the same object until something in it changes. Never mutate it. */
  getSnapshot(): T;
}

/** The state of the connection to the live events. */
export interface ConnectionState {
  /**
   * - `connecting`: the first connection is being made, or will be when somebody subscribes.
   * - `live`: events arrive.
   * - `stalled`: the server did not answer in time, or the connection is being made again.
   * - `offline`: there is no network, the server can't be reached, or it refuses the token that a
   *   function gave; see `error`.
   * - `closed`: nobody subscribes any longer, or the server refused the credential; see `error`.
   */
  state: 'connecting' | 'live' | 'stalled' | 'offline' | 'closed';
  /** When the state began, in milliseconds since 1970. */
  since: number;
  /** When the next attempt to connect begins, in milliseconds since 1970. */
  retryAt?: number;
  /** Why the state is not `live`, if the server said so. */
  error?: Error;
}

/** One space of the list. */
export interface SpaceSummary {
  id: string;
  name: string;
  /** The number of messages after the caller's read position, without tool cards. */
  unread: number;
  /** The last message, in short unless it is loaded; null until it is known, or without one. */
  lastMessage: Message | LastMessage | null;
  /** The runs that are active in the space. */
  activity: readonly ActiveRun[];
  /** No message wakes an agent there. */
  paused: boolean;
}

/** The spaces that the caller may read, the one with the latest message first. */
export interface SpacesState {
  spaces: readonly SpaceSummary[];
  isLoading: boolean;
  error: Error | null;
}

/** The settings and members of one space. */
export interface SpaceState {
  /** Null until it is loaded. */
  space: SpaceInfo | null;
  isLoading: boolean;
  error: Error | null;
  /** The space was deleted, or the caller is not a member any longer. */
  isGone: boolean;
}

/** One line of a timeline. `key` is unique in the timeline and survives updates of the item. */
export type TimelineItem =
  /** A stored message. A message that replaces a `live` or `pending` item has that item's key. */
  | { type: 'message'; key: string; message: Message }
  /** A message of this client that the server has not confirmed yet. */
  | { type: 'pending'; key: string; send: PendingSend }
  /** A text that an agent is writing. Its text is in `space.stream(streamId)`. */
  | { type: 'live'; key: string; stream: StreamInfo }
  /** A run that failed. */
  | { type: 'failed'; key: string; run: Run }
  /** The first item of a new day. `at` is its midnight in the local time zone, in milliseconds. */
  | { type: 'day'; key: string; at: number }
  /** The messages below have not been read. */
  | { type: 'unread'; key: string };

/** A message on its way to the server. */
export interface PendingSend {
  /** Identifies the send; also its idempotency key. */
  key: string;
  text: string;
  /** Its files. */
  files: readonly FilePart[];
  /** The entity that sends it. */
  senderId: string | null;
  /** When it was sent, in milliseconds since 1970. */
  at: number;
  /** The seq of the message that it replies to. */
  replyTo?: number | undefined;
  /** The seq of the last message that was known when it was sent. */
  afterSeq: number;
  /**
   * - `queued`: it waits for the network or for an earlier message.
   * - `sending`: its request is under way.
   * - `failed`: the server refused it, or it is too old to be repeated safely. `space.resend(key)`
   *   sends it as a new message, `space.discard(key)` removes it.
   */
  state: 'queued' | 'sending' | 'failed';
  error?: Error;
  /** An attempt had no answer, so the server may have stored it. */
  isUnsure?: boolean;
}

/** A stream without its text. */
export interface StreamInfo {
  streamId: string;
  /** `message`: the text of a message. `tool`: the raw input of a tool call. */
  kind: 'message' | 'tool';
  toolName: string | null;
  runId: string | null;
  /** The agent; its name is `An agent` until it is known. */
  sender: Sender;
}

/** The text of a stream. */
export interface StreamState {
  /** The text from the start to the first gap. */
  text: string;
  /** No more text will come. */
  done: boolean;
}

/** A message and all replies to it, and to those. */
export interface ThreadState {
  /** Oldest first: lines of the types `message` and `pending`. */
  items: readonly TimelineItem[];
  isLoading: boolean;
  error: Error | null;
}

/** A pinned message. */
export interface Pin {
  message: Message;
  /** The member that pinned it; null if the operator did. */
  pinnedBy: Sender | null;
  /** When it was pinned, as RFC 3339. */
  pinnedAt: string;
}

/** The pinned messages of a space. */
export interface PinsState {
  /** The message that was pinned last comes first. */
  items: readonly Pin[];
  isLoading: boolean;
  error: Error | null;
}

/** A message that mentions the caller or replies to it. */
export interface MentionItem {
  spaceId: string;
  spaceName: string;
  why: 'mention' | 'reply';
  message: Message;
}

/** The messages of the last 90 days that mention the caller or reply to it. */
export interface MentionsState {
  /** Newest first. */
  items: readonly MentionItem[];
  /** How many of `items` are after the caller's read positions, as far as these are known. */
  unread: number;
  /** Whether `more()` would load more. */
  hasMore: boolean;
  isLoading: boolean;
  error: Error | null;
}

/**
 * The mentions. They are read when somebody subscribes, when the connection is live again, when a
 * frame says that there is a new one, and every two minutes while the page is visible.
 */
export interface Mentions extends Store<MentionsState> {
  /** Shows 50 mentions more. */
  more(): void;
}

/** The messages of a space. */
export interface TimelineState {
  /** Oldest first. */
  items: readonly TimelineItem[];
  /** The lines between the loaded messages, oldest first: each stands after its `afterSeq`. */
  lines: readonly SystemLine[];
  /** Whether `loadOlder()` would load more. */
  hasOlder: boolean;
  isLoading: boolean;
  error: Error | null;
}

/** A run that is queued, running, or waiting for a form. */
export interface ActiveRun {
  runId: string;
  agentId: string;
  status: 'queued' | 'running' | 'waiting_tool';
  /** The index of its step, from 0; null if it is not known. */
  step: number | null;
  /** Its position in the queue, from 1; null if it is not queued. */
  position: number | null;
  /** The names of the tools that its step has called. */
  tools: readonly string[];
  /** Whether its step waits for a free place at its model's server. Only operators learn that. */
  waiting: boolean;
}

/** What became of a message for one agent. */
export interface Outcome {
  agentId: string;
  runId: string | null;
  /**
   * - `asked`: its run waits to start.
   * - `thinking`, `writing`, `waiting` (for a form): its run is active.
   * - `spoke`: it posted a message or a card.
   * - `reacted`: it posted nothing, but reacted to the message; `reason` is the emoji.
   * - `silent`: it ended without posting; `reason` says why: what the agent said, or else the
   *   `endReason` of its run, such as `length`.
   * - `refused`: the model refused to answer, so the agent did not choose to be silent.
   * - `failed`, `stopped`: its run ended so, perhaps after it had posted; `reason` says why.
   * - `notWoken`: the message triggered no run; `reason` says why: the words of the router or the
   *   budget, or else the code of `dispatch`, such as `paused` or `policy`.
   * - `unknown`: the run is not loaded.
   */
  state:
    | 'asked'
    | 'thinking'
    | 'writing'
    | 'waiting'
    | 'spoke'
    | 'reacted'
    | 'silent'
    | 'refused'
    | 'failed'
    | 'stopped'
    | 'notWoken'
    | 'unknown';
  reason: string | null;
  /** Why the message triggered the agent, such as `mention`. */
  source: string | null;
  /** What the router said when it chose the agent. */
  sourceText: string | null;
}

/** The runs of a space. */
export interface RunsState {
  /** Oldest first. */
  active: readonly ActiveRun[];
  /**
   * What became of each loaded message, by its id: an entry for each agent that was considered.
   * A message has no entry while it is undecided.
   */
  outcomes: Readonly<Record<string, readonly Outcome[]>>;
  /** The messages of the system to the model of a run, by the run's id. */
  hints: Readonly<Record<string, readonly Hint[]>>;
  /** What the loaded runs have cost in USD, by their ids. Only operators learn that. */
  costs: Readonly<Record<string, number>>;
}

/** An entity that is in the space right now. */
export interface Present {
  entityId: string;
  /** Since when, as RFC 3339. */
  since: string;
}

/** The entities that are in the space right now. */
export interface PresenceState {
  present: readonly Present[];
  /** The ids of the entities that are typing. */
  typing: readonly string[];
  /** How many are present. More than 200 are not listed. */
  count: number;
}

/** An open form. */
export interface Form {
  spaceId: string;
  messageId: string;
  runId: string;
  callId: string;
  /** The name of the tool. */
  name: string;
  /** The input of the call: the question, and whatever else the agent passed. */
  input: unknown;
  /** The component that shows the form: `form`, `buttons`, or a name of the deployment's own. */
  ui: string;
  /** The JSON Schema of the answer. */
  resultSchema: ToolPart['resultSchema'];
  answerBy: AnswerBy | null;
  /** Until when it can be answered, as RFC 3339; null if there is no limit. */
  expiresAt: string | null;
  /** Whether the caller may answer it. */
  mayAnswer: boolean;
  /** The approvals, if the card is no form but a call that people decide; else null. */
  approval: Approval | null;
}

/** The open forms. */
export interface FormsState {
  forms: readonly Form[];
}

/** What waits for the caller in all of its spaces. */
export interface InboxState {
  /** Soonest expiry first. A card that this client answers or decides leaves at once. */
  items: readonly InboxItem[];
  /** Whether `more()` would load more. */
  hasMore: boolean;
  isLoading: boolean;
  error: Error | null;
}

/**
 * The inbox. It is read when somebody subscribes, when the connection is live again, when an event
 * says that a card opens, and every two minutes while the page is visible.
 */
export interface Inbox extends Store<InboxState> {
  /** Shows 50 cards more. */
  more(): void;
}

/** A state of a step. Members get `index`, `rev` and the names of visible tools. */
export interface LiveStep {
  index: number;
  /** Of two frames of a run the one with the higher `rev` holds. */
  rev: number;
  calls: {
    name: string;
    callId?: string;
    status?: string;
    startedAt?: string | null;
    finishedAt?: string | null;
    visible?: boolean;
  }[];
  attempt?: number;
  model?: string;
  /** The request waits for a free place at its model's server. */
  waiting?: true;
  startedAt?: string | null;
  firstTokenAt?: string | null;
  finishedAt?: string | null;
  finishReason?: string | null;
  usage?: Run['usage'] | null;
}

/** One run, live. */
export interface RunState {
  /** Null until it is loaded. `steps` are for the operator. */
  run: Run | null;
  /** The step that the run works on, as the last event said. */
  step: LiveStep | null;
  isLoading: boolean;
  error: Error | null;
}

/** The members of a space. */
export interface MembersState {
  members: readonly Member[];
  isLoading: boolean;
  error: Error | null;
}

/** A space. It is live while somebody subscribes to one of its stores. */
export interface Space extends Store<SpaceState> {
  readonly id: string;
  readonly timeline: Store<TimelineState>;
  readonly runs: Store<RunsState>;
  readonly members: Store<MembersState>;
  readonly presence: Store<PresenceState>;
  /** The open forms of the loaded messages, and of older ones whose runs wait for them. */
  readonly forms: Store<FormsState>;
  /** The pinned messages. `space.pins` of its state has their numbers. */
  readonly pins: Store<PinsState>;
  /**
   * A thread by the seq of its first message, which is the `thread` of its replies: always the same
   * store.
   */
  thread(seq: number): Store<ThreadState>;
  /** The text of a stream. Only this store changes with each piece of text. */
  stream(streamId: string): Store<StreamState>;
  /** Loads the page of messages before the oldest one. */
  loadOlder(): Promise<void>;
  /**
   * Posts a message. It shows in the timeline at once, waits while there is no network, survives a
   * reload, and is posted once. It is stored as soon as the caller is known. Resolves to the stored
   * message; rejects if the server refuses it, or the client is closed.
   */
  send(text: string, options?: MessageOptions): Promise<Message>;
  /**
   * Uploads a file, so that a message can name it. Resolves when the server has checked it; rejects
   * if the server refuses it, or if the storage can't be reached. At most three files are uploaded
   * at once. A file that no message names is deleted after a day.
   */
  attach(file: Blob | NewFile, options?: AttachOptions): Promise<Attachment>;
  /** A file by its id. Rejects with the status 404 if it does not exist any longer. */
  attachment(id: string, options?: { signal?: AbortSignal }): Promise<Attachment>;
  /**
   * The address of a file, for an `<img>` or a download. It works for some minutes. Calls share one
   * request, and get the same address until shortly before its end.
   */
  fileUrl(attachmentId: string, options?: FileUrlOptions): Promise<string>;
  /** Sends a failed message again, as a new one. `key` is that of the pending send. */
  resend(key: string): void;
  /** Removes a message that waits or has failed. */
  discard(key: string): void;
  /**
   * Replaces the text of a message. It wakes and notifies nobody. As `delete`, `react` and `pin` it
   * shows at once, and is undone if the promise rejects. It does not wait for a network.
   */
  edit(seq: number, text: string, options?: EditOptions): Promise<Message>;
  /** Deletes a message. Its tombstone stays. */
  delete(seq: number): Promise<void>;
  /** Adds the caller's reaction to a message, or takes it back. It wakes nobody. */
  react(seq: number, emoji: string, on?: boolean, options?: SendOptions): Promise<void>;
  /** Pins a message, or unpins it. Guests may not. */
  pin(seq: number, on?: boolean): Promise<void>;
  /** Answers a form. `output` must match its `resultSchema`. The first answer counts. */
  answer(callId: string, output: unknown, options?: AnswerOptions): Promise<void>;
  /** Declines a form. */
  decline(callId: string, reason?: string, options?: AnswerOptions): Promise<void>;
  /**
   * Decides a call that waits for people. Resolves to the approvals that it has then. A decision is
   * repeated a few times while the server can't be reached, and does not wait for a network: the
   * call that is shown may be another one by then.
   */
  decide(callId: string, decision: Decision, options?: AnswerOptions): Promise<ApprovalCount>;
  /** Which agents a text would wake, and why not the others. Posts nothing. */
  preview(text: string, options?: PreviewOptions): Promise<Dispatch[]>;
  /** Moves the caller's read position to the last message, or to `seq`. */
  markRead(seq?: number): Promise<void>;
  /** Tells the others that the person is typing. Call it with each key; it sends what is needed. */
  setTyping(isTyping: boolean): void;
  /**
   * The text that the person has not sent yet. It survives a reload. Until the caller is known, as
   * while the space loads, it is empty; a text that is set then stays in memory, and replaces the
   * stored one with the next `setDraft`.
   */
  getDraft(): string;
  setDraft(text: string): void;
  /** The name of an entity, also after it has left. */
  nameOf(entityId: string): string;
}
