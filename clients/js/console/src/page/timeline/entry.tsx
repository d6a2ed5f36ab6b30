// One entry of a bubble: a message, a text that is being written, a message on its way, or a failed
// run.

import type { ChainEnded, FilePart, Message, Outcome, Part } from '@smartspace/client';
import type { ComponentChildren, JSX } from 'preact';
import { createPortal, memo } from 'preact/compat';
import { useLayoutEffect, useState } from 'preact/hooks';
import { Files } from '../../files/files.tsx';
import { ApprovalCard } from '../../forms/approval/approval_card.tsx';
import { isApproval, type ApprovalPart } from '../../forms/approval/approval_words.ts';
import { Card } from '../../forms/card/card.tsx';
import { resultText } from '../../forms/card/details.tsx';
import type { StreamedTool } from '../../forms/card/parts.ts';
import type { SpaceMembers } from '../../members/space_members.ts';
import { useLater } from '../scripts.ts';
import { useNow } from '../../ui/now.ts';
import { endedWords } from '../../why/outcomes.ts';
import { Markdown } from '../../markdown/markdown.tsx';
import { marksOf, NO_MARKS } from '../../markdown/marks.ts';
import { deletedWords } from '../../message/message_words.ts';
import { ParentLine } from '../../message/parent_line.tsx';
import { Reactions } from '../../message/reactions.tsx';
import { BarAtHand } from './at_hand.tsx';
import type { Entry } from './bubbles.ts';
import { callOf } from './folding.ts';
import { setAttributes } from './hosts.ts';
import { useLiveText } from './live_text.ts';
import { PendingNote } from './pending_note.tsx';
import { RollCall } from './roll_call.tsx';
import { Failure } from './failure.tsx';
import { useToolHost } from './tool_host.ts';

const STATES = {
  message: 'stored',
  live: 'writing',
  failed: 'failed',
  pending: 'pending',
} as const;

export interface EntryProps {
  item: Entry;
  members: SpaceMembers;
  /** The outcome of the message for each agent; undefined while it is undecided. */
  outcomes: readonly Outcome[] | undefined;
  /** The address of the page names this message. */
  isMarked: boolean;
}

/**
 * An entry in its node `host`. The node stays the same while the text grows, when the stored
 * message replaces the stream, and when the entry moves to another bubble.
 */
export const EntryView = memo(function EntryView({ host, ...props }: EntryProps & InHost) {
  const { item, isMarked } = props;
  // An entry that began as a stream keeps its component, so that its nodes stay.
  const [streamId] = useState(item.type === 'live' ? item.stream.streamId : null);
  const Body = streamId === null ? StillBody : LiveBody;
  useLayoutEffect(() => {
    const message = item.type === 'message' ? item.message : undefined;
    setAttributes(host, {
      class: isMarked ? 'entry marked' : 'entry',
      'data-state': STATES[item.type],
      'data-seq': message?.seq,
      'data-message': message?.id,
      role: message ? 'group' : undefined,
      'aria-label': message ? `Message ${message.seq}` : undefined,
      // A screen reader announces a text once, when it is complete.
      'aria-busy': item.type === 'live' ? 'true' : undefined,
    });
    // `useMessageKeys` makes one of them a stop of the Tab key.
    if (message && !host.hasAttribute('tabindex')) host.tabIndex = -1;
  }, [host, item, isMarked]);
  return createPortal(<Body {...props} host={host} streamId={streamId ?? ''} />, host);
});

interface InHost {
  host: HTMLElement;
}

type BodyProps = EntryProps & InHost & { streamId: string };

// The only component that a piece of a streamed text changes.
function LiveBody({ streamId, ...props }: BodyProps): JSX.Element {
  const text = useLiveText(props.members.space, streamId);
  return <Parts {...props} parts={partsOf(props.item, text)} />;
}

const StillBody = (props: BodyProps): JSX.Element => (
  <Parts {...props} parts={partsOf(props.item, '')} />
);

type ShownPart = Part | StreamedTool;

function partsOf(item: Entry, text: string): readonly ShownPart[] {
  switch (item.type) {
    case 'message':
      return item.message.parts;
    case 'pending': {
      const { text, files } = item.send;
      return text === '' ? files : [{ type: 'text', text }, ...files];
    }
    case 'failed':
      return [];
    case 'live': {
      const name = item.stream.toolName ?? 'tool';
      if (item.stream.kind === 'tool')
        return [{ type: 'tool', name, status: 'writing', raw: text }];
      return [{ type: 'text', text }];
    }
  }
}

type PartsProps = EntryProps & InHost & { parts: readonly ShownPart[] };

function Parts({ host, item, members, outcomes, parts }: PartsProps) {
  if (item.type === 'failed') return <Failure {...item} members={members} />;
  const message = item.type === 'message' ? item.message : null;
  if (message?.deleted) return <Tombstone {...{ host, message, members }} />;
  if (message && item.type === 'message' && item.folded)
    return <FoldedEntry {...{ host, message, folded: item.folded, members }} />;
  const marks = message ? marksOf(message, members.meId) : NO_MARKS;
  // Mentions are those of the text.
  const marked = parts.find(({ type }) => type === 'text');
  const files = parts.filter((part): part is FilePart => part.type === 'file');
  const shown = parts.map((part, index): ComponentChildren => {
    if (part.type === 'file') return null;
    const key = `${part.type} ${index}`;
    if (part.type === 'tool') return <CardPart key={key} {...{ part, message, members }} />;
    if (part.type === 'text')
      return (
        <Markdown
          key={key}
          text={part.text}
          marks={part === marked ? marks : NO_MARKS}
          streaming={item.type === 'live'}
        />
      );
    return (
      <p key={key} class="text" dir="auto">
        {`(a part of type ${(part as Part).type})`}
      </p>
    );
  });
  const isCard = parts.some(({ type }) => type === 'tool');
  return (
    <>
      {message ? <ParentLine {...{ message, members }} /> : null}
      {item.type === 'pending' && item.send.replyTo !== undefined ? (
        <p class="note">{`↩ #${item.send.replyTo}`}</p>
      ) : null}
      {shown}
      {files.length > 0 ? <Files files={files} /> : null}
      {message?.editedAt ? <Edited at={message.editedAt} /> : null}
      {message ? <Reactions {...{ message, members }} /> : null}
      {message && !isCard ? <Note {...{ message, members, outcomes }} /> : null}
      {message ? <BarAtHand {...{ host, message, members }} /> : null}
      {item.type === 'pending' ? <PendingNote space={members.space} send={item.send} /> : null}
    </>
  );
}

const Edited = ({ at }: { at: string }) => (
  <p class="note edited">
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      edited
    </time>
  </p>
);

interface TombstoneProps extends InHost, Pick<EntryProps, 'members'> {
  message: Message;
}

// What remains of a deleted message.
const Tombstone = ({ host, message, members }: TombstoneProps) => (
  <>
    <ParentLine {...{ message, members }} />
    <p class="note">{message.deleted ? deletedWords(message.deleted) : ''}</p>
    <BarAtHand {...{ host, message, members }} />
  </>
);

interface FoldedEntryProps extends InHost, Pick<EntryProps, 'members'> {
  message: Message;
  folded: readonly Message[];
}

function FoldedEntry({ host, message, folded, members }: FoldedEntryProps) {
  const { script: later } = useLater();
  const last = callOf(message);
  const result = last ? resultText(last) : '';
  const cards = folded.map((each) => {
    const part = callOf(each);
    return part ? <PlainCard key={each.id} {...{ part, message: each, members }} /> : null;
  });
  return (
    <>
      {later && <later.FoldedCards {...{ folded, result }}>{cards}</later.FoldedCards>}
      <BarAtHand {...{ host, message, members }} />
    </>
  );
}

interface CardPartProps {
  part: Extract<ShownPart, { type: 'tool' }>;
  message: Message | null;
  members: SpaceMembers;
}

function CardPart({ part, message, members }: CardPartProps) {
  if (isApproval(part)) return <Approval {...{ part, message, members }} />;
  return <PlainCard {...{ part, message, members }} />;
}

function Approval({ part, message, members }: CardPartProps & { part: ApprovalPart }) {
  const isOpen = part.approval.state === 'open';
  const now = useNow(isOpen);
  const { space, people, isOperator, meId, nameOf } = members;
  const who = { space, people, isOperator, meId, nameOf };
  // The configuration of an agent is the operator's to read.
  const agentId = isOpen && isOperator ? (message?.sender.id ?? null) : null;
  const host = useToolHost(agentId, part.name);
  return <ApprovalCard {...{ part, message, now, host }} {...who} />;
}

function PlainCard({ part, message, members }: CardPartProps) {
  const now = useNow(part.status === 'pending');
  const { space, people, senderId, isOperator, nameOf } = members;
  return <Card {...{ part, message, space, people, senderId, isOperator, nameOf, now }} />;
}

interface NoteProps extends Pick<EntryProps, 'members' | 'outcomes'> {
  message: Message;
}

function Note({ message, members, outcomes }: NoteProps) {
  if (message.parts.some((part) => 'partial' in part && part.partial))
    return <p class="note">unfinished</p>;
  return (
    <>
      <RollCall
        {...{ outcomes, router: message.router }}
        nameOf={members.nameOf}
        hasEnd={Boolean(message.chainEnded)}
      />
      {message.chainEnded ? <ChainEnd {...message.chainEnded} /> : null}
    </>
  );
}

// The end of a talk of agents. It is a button, so that the keyboard reaches it.
function ChainEnd(ended: ChainEnded) {
  return (
    <button
      type="button"
      class="chain-end"
      onClick={() => document.getElementById('text')?.focus()}
    >
      {endedWords(ended)}
    </button>
  );
}
