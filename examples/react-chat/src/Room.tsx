import { useClient, useMe, useMembers, usePresence, useRuns, useSend } from '@smartspace/react';
import { useSpace, useTimeline } from '@smartspace/react';
import { useEffect, useState, type FormEvent } from 'react';
import { Connection } from './Connection';
import { Item } from './Item';
import './room.css';

export function Room({ id, onBack }: { id: string; onBack: () => void }) {
  const { space, error, isGone } = useSpace();
  const { items, hasOlder, loadOlder } = useTimeline();
  const { markRead } = useClient().space(id);
  useEffect(() => {
    if (document.visibilityState === 'visible') markRead().catch(() => {});
  }, [markRead, items]);

  if (isGone || error) return <p className="note">{error?.message ?? 'This space is gone.'}</p>;
  return (
    <section aria-label={space?.name}>
      <header>
        <button className="back" onClick={onBack} aria-label="All spaces">
          ‹
        </button>
        <h2>{space?.name}</h2>
        <Connection />
        <Members />
      </header>
      <div className="log">
        <ol role="log">
          {hasOlder && <button onClick={loadOlder}>Earlier messages</button>}
          {items.map((item) => (
            <Item key={item.key} item={item} id={id} />
          ))}
        </ol>
      </div>
      <Busy id={id} />
      <Composer id={id} />
    </section>
  );
}

function Members() {
  const { members } = useMembers();
  const { present } = usePresence();
  const isHere = (member: string) => present.some(({ entityId }) => entityId === member);
  return (
    <ul aria-label="Members">
      {members.map(({ id, name, type }) => (
        <li key={id} data-type={type} data-here={isHere(id)}>
          {name}
        </li>
      ))}
    </ul>
  );
}

const DOING = { queued: 'waits', running: 'works', waiting_tool: 'waits for an answer' };

function Busy({ id }: { id: string }) {
  const { typing } = usePresence();
  const { active } = useRuns();
  const { me } = useMe();
  const { nameOf } = useClient().space(id);
  const people = typing.filter((each) => each !== me?.entity?.id);
  const lines = [
    ...people.map((each) => `${nameOf(each)} types`),
    ...active.map(({ agentId, status }) => `${nameOf(agentId)} ${DOING[status]}`),
  ];
  return (
    <p className="busy" role="status">
      {lines.join(' · ')}
    </p>
  );
}

function Composer({ id }: { id: string }) {
  const send = useSend();
  const { setTyping } = useClient().space(id);
  const [text, setText] = useState('');
  const change = (next: string) => {
    setText(next);
    setTyping(next !== '');
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The timeline shows a message that the server refuses.
    if (text.trim()) send(text.trim()).catch(() => {});
    change('');
  };
  return (
    <form onSubmit={submit}>
      <input
        aria-label="Message"
        placeholder="Message"
        autoComplete="off"
        value={text}
        onChange={(event) => change(event.target.value)}
      />
      <button disabled={!text.trim()}>Send</button>
    </form>
  );
}
