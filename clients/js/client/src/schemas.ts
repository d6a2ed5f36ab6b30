// The shapes that the HTTP API returns, from its description.

import type { components, paths } from './api.ts';

/** Every shape of the HTTP API, by its name in the description: `Schemas['Plan']`. */
export type Schemas = components['schemas'];

/** A person or an agent. */
export type Entity = Schemas['Entity'];
/** What an agent was after a change, who made the change, and what it changed. */
export type Revision = Schemas['Revision'];
/** What files say of the agents, spaces and plans of a project. */
export interface Apply extends Partial<Omit<Schemas['Apply'], 'project' | 'objects'>> {
  /** The project's name. */
  project: string;
  /** The objects, at most 300. */
  objects: readonly ApplyObject[];
}
/** What a file says of an agent, a space or a plan. */
export interface ApplyObject {
  kind: Schemas['ObjectKind'];
  /** The name of the object in files. */
  externalId: string;
  /** The id of an object that exists and that no project has managed so far. */
  id?: string;
  /** The path of the file. */
  path?: string;
  /** What the file says. Where a field takes an id, an external id may stand instead. */
  spec: Readonly<Record<string, unknown>>;
}
/** What became of each object of an apply. */
export type ApplyAnswer = Schemas['ApplyAnswer'];
/** A space with its settings and members, as `GET /v1/spaces/{id}` returns it. */
export type SpaceInfo = Schemas['Space'];
/** The last message of a space, in short. */
export type LastMessage = Schemas['LastMessage'];
/** A member of a space. */
export type Member = Schemas['Member'];
/**
 * A message of a space. Its `seq` is its position, from 1, without gaps. A deleted one has no parts
 * and says in `deleted` when and by whom.
 */
export type Message = Schemas['Message'] & {
  /** The message that it replies to. Only timelines, threads and pins have it, once it is known. */
  parent?: Parent;
};
/** The reactions to a message with one emoji. `entityIds` has the first 50 entities. */
export type Reaction = NonNullable<Message['reactions']>[number];
/** A mention in a text, from `start` to `end`. It has `entityId`, or `all` for `@all`. */
export type Mention = NonNullable<Message['mentions']>[number];
/** The message that a reply answers. */
export interface Parent {
  seq: number;
  messageId: string | null;
  sender: Sender | null;
  /** The first 200 characters of its text; of a card, the name of its tool. */
  text: string;
  /** It is deleted, and has no text. */
  deleted?: Message['deleted'];
}
/**
 * A line between the messages: it says what has changed in a space. It has no `seq` of its own, and
 * stands after the message with the seq `afterSeq`.
 */
export interface SystemLine {
  id: string;
  afterSeq: number;
  at: string;
  /** Null: the operator. */
  by: Sender | null;
  kind:
    | 'joined'
    | 'left'
    | 'renamed'
    | 'paused'
    | 'resumed'
    | 'policyChanged'
    | 'chainStopped'
    | 'stopped';
  /** Who joined, left or was renamed. */
  member?: Sender;
  /** The name or the policy before. */
  from?: string;
  /** The name or the policy after. */
  to?: string;
  /** The message whose chain was stopped. */
  seq?: number;
}
/** What a stop has done: the runs that it has canceled, and its line. */
export interface StopResult {
  canceledRuns: number;
  line: SystemLine;
}
/** A part of a message: text, a tool call, or a file. */
export type Part = Schemas['Part'];
/** A tool call that a space shows as a card. */
export type ToolPart = Schemas['ToolPart'];
/** The decision for one agent: whether a message triggers it. */
export type Dispatch = Schemas['Dispatch'];
/**
 * The scores that the wake gate gave the agents for a message: how likely each one was to answer.
 * Only owners and the operator get them.
 */
export type Gate = NonNullable<Message['gate']>;
/** The limit at which the agents stop: the message that has it wakes none of them. */
export type ChainEnded = NonNullable<Message['chainEnded']>;
/** What the last messages with scores cost, and would have cost with each dial of the gate. */
export type GateReport =
  paths['/v1/spaces/{id}/gate']['get']['responses'][200]['content']['application/json'];
/** A run of an agent. `steps` are for the operator. */
export type Run = Schemas['Run'];
/** One model answer with its tool calls. */
export type Step = Schemas['Step'];
/** A message of the system to a model, such as how much of its context is used. */
export type Hint = Schemas['Hint'];
/** The owner of a credential. Its `entity` is null for the operator. */
export type Caller = Schemas['Me'];
/** The approvals of a call that people decide, as its card shows them. */
export type Approval = Schemas['Approval'];
/** How many approvals a call has after a decision, and how many it needs. */
export type ApprovalCount = Schemas['ApprovalCount'];
/** A decision about such a call: `{action: 'approve'}`. */
export type Decision = Omit<Schemas['DecisionBody'], 'senderId'>;
/** A card that waits for the caller: a form that it may answer, or a call that it may decide. */
export type InboxItem = Schemas['Page_InboxItem']['items'][number];
/** The people who may answer a form. */
export type AnswerBy = Schemas['AnswerBy'];
/** The sender of a message. */
export type Sender = Schemas['Sender'];

/** A file of a message. */
export type FilePart = Extract<Part, { type: 'file' }>;

/**
 * A file that was given to a space. Messages name it by its `id`. Its bytes are at `url` until
 * `urlExpiresAt`, while it is `ready`.
 */
export type Attachment = Schemas['ShownAttachment'];
