// The types of the frames that the server sends over the WebSocket (docs/reference/live.md).

import type {
  AnswerBy,
  Approval,
  LastMessage,
  LiveStep,
  Member,
  Message,
  Reaction,
  Run,
  Sender,
  SpaceInfo,
  SystemLine,
  ToolPart,
} from './types.ts';

/** What every event has. */
interface Event {
  spaceId: string;
  /** When it happened, as RFC 3339. */
  at: string;
}

/** What became of a run. Its `trigger` has no texts. */
export interface RunEvent extends Event {
  type:
    | 'run.queued'
    | 'run.started'
    | 'run.waiting_tool'
    | 'run.resumed'
    | 'run.completed'
    | 'run.failed'
    | 'run.canceled';
  run: Run;
  /** The run that absorbed it. Only with `run.canceled`. */
  by?: string | null;
  /** The position in the queue, from 1, the next one. Only with `run.queued`. */
  position?: number;
  /** How far the agent has read the space. Only with `run.completed`. */
  readSeq?: number;
}

/** The step that a run works on began or ended, or one of its calls did. */
export interface RunStep extends Event {
  type: 'run.step';
  runId: string;
  step: LiveStep;
}

/** A message was posted, or has changed: also by an edit or a deletion. */
export interface MessageEvent extends Event {
  type: 'message.created' | 'message.updated';
  /** With `truncated: true` its text or its card is cut. */
  message: Message;
}

/** The reactions to messages have changed: at most one frame in two seconds. */
export interface ReactionsEvent extends Event {
  type: 'reactions';
  /** Of two states of a message's reactions the one with the higher `reactionsRev` holds. */
  items: { messageId: string; seq: number; reactions: Reaction[]; reactionsRev: number }[];
}

/** A message mentions the caller or replies to it. It goes to the caller's own connections. */
export interface MentionEvent extends Event {
  type: 'mention';
  messageId: string;
  seq: number;
  why: 'mention' | 'reply';
  sender: Sender;
}

/** An agent starts to write. */
export interface StreamStarted extends Event {
  type: 'stream.started';
  streamId: string;
  runId: string;
  callId: string;
  /** It grows with each try of the same call. */
  attempt: number;
  sender: Sender;
  kind: 'message' | 'tool';
  toolName?: string | null;
}

/** `offset` counts UTF-16 code units, as JavaScript strings do. */
export interface StreamText extends Event {
  type: 'stream.delta' | 'stream.snapshot';
  streamId: string;
  offset?: number;
  text: string;
}

/** An agent has stopped to write. */
export interface StreamEnded extends Event {
  type: 'stream.ended';
  streamId: string;
  /** The message that replaces the stream. */
  messageId?: string | null;
  reason?: 'canceled' | 'absorbed' | 'failed' | null;
}

/** A form opens, or has a result. */
export interface ToolEvent extends Event {
  type: 'tool.requested' | 'tool.resolved';
  runId: string;
  callId: string;
  messageId: string;
  name: string;
  input: unknown;
  ui: string;
  resultSchema: ToolPart['resultSchema'];
  answerBy: AnswerBy | null;
  expiresAt: string | null;
  resolvedBy: ToolPart['resolvedBy'];
  status: ToolPart['status'];
  approval?: Approval | null;
}

/** A message of a watcher to the model of a run. */
export interface SystemMessage extends Event {
  type: 'system.message';
  runId: string;
  step: number;
  watcher: string;
  text: string;
  /** Only operators get the message, and it is no hint. */
  private?: true;
}

/** An uploaded file was checked and can be used. */
export interface AttachmentReady extends Event {
  type: 'attachment.ready';
  attachmentId: string;
}

/** An entity joined the space, or its role has changed. */
export interface MemberJoined extends Event {
  type: 'member.joined';
  member: Member;
}

/** A member left the space, or was removed. */
export interface MemberLeft extends Event {
  type: 'member.left';
  entityId: string;
}

/** A member has read up to a message. */
export interface SpaceRead extends Event {
  type: 'space.read';
  entityId: string;
  seq: number;
  /** All positions that moved, if there are several. */
  reads?: { entityId: string; seq: number }[];
  /** How many tool cards there are up to `seq`. Only with the caller's own position. */
  cards?: number;
}

/** There is news in a space that the connection does not follow. At most one a minute. */
export interface SpaceActivity extends Event {
  type: 'space.activity';
  lastMessage: LastMessage;
  seq: number;
  /** How many messages of the space are tool cards. */
  cards: number;
}

/** The entities that are in the space right now: always all of them, up to 200. */
export interface PresenceEvent extends Event {
  type: 'presence';
  present: { entityId: string; since: string; until: string; typingUntil?: string }[];
  typing: string[];
  /** How many are present, if they are too many to be listed. */
  count?: number;
}

/** The settings of the space have changed, or the caller joined it. */
export interface SpaceUpdated extends Event {
  type: 'space.updated' | 'space.joined';
  /** Its members may be missing if they are many. */
  space: SpaceInfo;
}

/** Something has changed in the space: it joined the lines between the messages. */
export interface LineEvent extends Event {
  type: 'space.line';
  line: SystemLine;
}

/** The space was deleted, or the caller left it. */
export interface SpaceEnded extends Event {
  type: 'space.deleted' | 'space.left';
}

/** A card that names the caller waits for it, or no longer waits. */
export interface InboxEvent extends Event {
  type: 'inbox';
  callId: string;
  state: 'open' | 'closed';
}

/** An event of a space. */
export type SpaceEvent =
  | MessageEvent
  | ReactionsEvent
  | MentionEvent
  | StreamStarted
  | StreamText
  | StreamEnded
  | RunEvent
  | RunStep
  | ToolEvent
  | InboxEvent
  | SystemMessage
  | AttachmentReady
  | MemberJoined
  | MemberLeft
  | SpaceRead
  | SpaceActivity
  | PresenceEvent
  | SpaceUpdated
  | LineEvent
  | SpaceEnded;

export interface Subscribed {
  type: 'subscribed';
  id?: string | number;
  spaceId: string;
  /** The seq of the space's last message. */
  seq: number;
  /** The seq of the first message that follows; null if none follows. */
  from: number | null;
  active: { runId: string; agentId: string; status: 'queued' | 'running' | 'waiting_tool' }[];
}

export interface Unsubscribed {
  type: 'unsubscribed';
  id?: string | number;
  spaceId: string;
  /** `removed` if the server ended the subscription. */
  reason?: string;
}

/** The answer to a ping. */
export interface Pong {
  type: 'pong';
  id?: string | number;
  /** Those of the asked spaces that have a higher seq. */
  spaces: Record<string, number>;
}

/** The answer to a request that has no other answer. */
export interface Accepted {
  type: 'accepted';
  id?: string | number;
  spaceId?: string;
  streamId?: string;
  runId?: string;
  callId?: string;
}

/** The answer to the action `send`. */
export interface Sent {
  type: 'sent';
  id?: string | number;
  messageId: string;
  seq: number;
}

/** The answer to a request that has failed, with the status of the HTTP API. */
export interface ErrorFrame {
  type: 'error';
  id?: string | number;
  status: number;
  title: string;
  detail: string;
  /** Seconds to wait, with status 429. */
  retryAfter?: number;
}

/** The server is about to close the connection. */
export interface Goodbye {
  type: 'goodbye';
  code: number;
  reason: string;
  /** Seconds to wait before connecting again. */
  retryAfter?: number;
}

/** Any frame that the server sends. */
export type ServerFrame =
  SpaceEvent | Subscribed | Unsubscribed | Pong | Accepted | Sent | ErrorFrame | Goodbye;
