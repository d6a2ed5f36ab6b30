import type {
  FilePart,
  Message,
  Outcome,
  Part,
  StreamInfo,
  TimelineItem,
} from '@smartspace/client';
import { useClient, useFileUrl, useMe, useRuns, useStream } from '@smartspace/react';
import { Card } from './Card';

export function Item({ item, id }: { item: TimelineItem; id: string }) {
  const { resend, nameOf } = useClient().space(id);
  switch (item.type) {
    case 'message':
      return <Stored message={item.message} id={id} />;
    case 'live':
      return <Live stream={item.stream} />;
    case 'pending': {
      const { key, state, text, error } = item.send;
      return (
        <li className="bubble" data-state={state} data-own>
          <small>{error?.message ?? state}</small>
          <p>{text}</p>
          {state === 'failed' && <button onClick={() => resend(key)}>Send again</button>}
        </li>
      );
    }
    case 'failed':
      return (
        <li className="line">
          {nameOf(item.run.agentId)} failed: {item.run.error?.message}
        </li>
      );
    case 'day': {
      const day = new Date(item.at).toLocaleDateString([], { dateStyle: 'full' });
      return <li className="line">{day}</li>;
    }
    case 'unread':
      return <li className="line unread">New</li>;
  }
}

function Stored({ message, id }: { message: Message; id: string }) {
  const { me } = useMe();
  const { sender, parts, createdAt } = message;
  const time = new Date(createdAt).toLocaleTimeString([], { timeStyle: 'short' });
  return (
    <li className="bubble" data-state="stored" data-own={sender.id === me?.entity?.id}>
      <small>
        <b>{sender.name}</b> {time}
      </small>
      {parts.map((part, key) => (
        <PartView key={key} part={part} id={id} />
      ))}
      {sender.type === 'human' && <RollCall messageId={message.id} id={id} />}
    </li>
  );
}

function PartView({ part, id }: { part: Part; id: string }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  return part.type === 'file' ? <FileLink file={part} /> : <Card part={part} id={id} />;
}

function FileLink({ file }: { file: FilePart }) {
  const { url, error } = useFileUrl(file.attachmentId);
  return (
    <p>
      <a href={url ?? undefined} download={file.name}>
        {file.name}
      </a>{' '}
      {error?.message}
    </p>
  );
}

function Live({ stream: { streamId, sender, toolName } }: { stream: StreamInfo }) {
  const { text } = useStream(streamId);
  return (
    <li className="bubble" data-state="live">
      <small>
        <b>{sender.name}</b> {toolName ?? 'writes'}
      </small>
      <p>{text}</p>
    </li>
  );
}

// What became of a message: an entry for each agent.
function RollCall({ messageId, id }: { messageId: string; id: string }) {
  const outcome = useRuns().outcomes[messageId] ?? [];
  const { nameOf } = useClient().space(id);
  const words = ({ state, reason }: Outcome) =>
    (state === 'notWoken' ? 'not woken' : state) + (reason ? `: ${reason}` : '');
  if (outcome.length === 0) return null;
  return (
    <ul className="roll-call" aria-label="Agents">
      {outcome.map((each) => (
        <li key={each.agentId} data-state={each.state}>
          {nameOf(each.agentId)} <i>{words(each)}</i>
        </li>
      ))}
    </ul>
  );
}
