// What came of a run: its messages, its reason to be silent, its error, or what it waits for.

import type { InboxItem, Message, Run, Step } from '@smartspace/client';
import { useClient, useInbox, useSpace } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { spacePath } from '../../api/paths.ts';
import { headingOf } from '../../forms/card/waiting.ts';
import { partWords, textOf } from '../../message/message_words.ts';
import { hashOf } from '../../navigation/address.ts';
import { Markdown } from '../../markdown/markdown.tsx';
import { isolated } from '../../ui/visible.ts';
import { Failure } from '../../why/failure.tsx';
import { endWords } from '../../why/words.ts';
import { postedTexts } from './sent_texts.ts';

const PAGE = 50;

/** The outcome of a run, live. */
export function Outcome({ run }: { run: Run }): JSX.Element {
  const messages = usePosted(run);
  const { items } = useInbox();
  const item = items.find(({ runId }) => runId === run.id);
  const texts = messages.length > 0 ? [] : postedTexts(run.steps ?? []);
  const hasSpoken = messages.length + texts.length > 0;
  return (
    <>
      {messages.map((message) => (
        <Posted key={message.id} message={message} />
      ))}
      {texts.map((text, index) => (
        <blockquote key={index} class="quote">
          <Markdown text={text} />
        </blockquote>
      ))}
      {item ? <Waits item={item} /> : null}
      {/* Only operators see its steps. */}
      <Failure run={run} isOperator={Boolean(run.steps)} />
      {item || run.error ? null : <Ending run={run} hasSpoken={hasSpoken} />}
    </>
  );
}

function Ending({ run, hasSpoken }: { run: Run; hasSpoken: boolean }) {
  const words = endingText(run, hasSpoken);
  return words === null ? null : (
    <p class={hasSpoken ? 'note' : undefined} dir="auto">
      {words}
    </p>
  );
}

function endingText(run: Run, hasSpoken: boolean): string | null {
  const { status, endReason, reason } = run;
  if (status === 'waiting_tool') return 'It waits for an answer.';
  if (run.finishedAt === null)
    return hasSpoken ? 'It is still at work.' : 'Nothing yet: it is at work.';
  if (endReason === 'skipped')
    return reason ? `It stayed silent: “${reason}”` : 'It stayed silent.';
  if (endReason === 'done') return hasSpoken ? null : 'It posted nothing, and gave no reason.';
  const end = endWords(run) ?? 'no reason was given';
  return status === 'canceled' ? `It was stopped: ${end}.` : `It ended: ${end}.`;
}

function Posted({ message }: { message: Message }) {
  const { parts, spaceId, seq } = message;
  const { space } = useSpace(spaceId);
  const others = parts.flatMap((part) => (part.type === 'text' ? [] : [partWords(part)]));
  return (
    <blockquote class="quote">
      <Markdown text={textOf(message)} />
      <p dir="auto">
        {others.join(', ')}{' '}
        <a href={hashOf(spaceId, seq)}>{`#${seq}${space ? ` in ${isolated(space.name)}` : ''}`}</a>
      </p>
    </blockquote>
  );
}

function Waits({ item }: { item: InboxItem }) {
  return (
    <div class="form-row">
      <strong dir="auto">{headingOf(item)}</strong>
      <a class="button primary" href={hashOf(item.spaceId, item.seq)}>
        Answer
      </a>
    </div>
  );
}

// The messages that a run has posted soon after its trigger. They are loaded again at each step.
function usePosted({ id, trigger, activeSpaceId, steps, finishedAt, stepCount }: Run): Message[] {
  const client = useClient();
  const [messages, setMessages] = useState<Message[]>([]);
  const seq = 'seq' in trigger ? trigger.seq : null;
  const isHere = !('spaceId' in trigger) || trigger.spaceId === activeSpaceId;
  const calls = callsOf(steps);
  useEffect(() => {
    if (seq === null || !activeSpaceId || !isHere) return undefined;
    const stop = new AbortController();
    const { signal } = stop;
    const path = `${spacePath(activeSpaceId, 'messages')}?after=${seq}&limit=${PAGE}`;
    client
      .request<{ items: Message[] }>('GET', path, { signal, retry: true })
      .then(({ items }) => setMessages(items.filter(({ runId }) => runId === id)))
      .catch(() => {}); // The space may be deleted. The calls of the run have the texts, too.
    return () => stop.abort();
  }, [client, id, seq, activeSpaceId, isHere, finishedAt, stepCount, calls]);
  return messages;
}

const callsOf = (steps: readonly Step[] | null | undefined): number =>
  (steps ?? []).reduce((sum, step) => sum + step.calls.length, 0);
