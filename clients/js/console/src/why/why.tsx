// The drawer that explains a run: what woke it, what everyone decided, what it did, what it read.

import type { Outcome, Run } from '@smartspace/client';
import { useRun, useRuns, useTimeline } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../page/copy_button.tsx';
import { openWhy } from '../page/address.ts';
import type { Cast } from '../page/members.ts';
import { wordsOf } from '../page/notices.ts';
import { reasonOf, stateWords } from '../page/outcomes.ts';
import { Fork } from './fork.tsx';
import { Section } from './section.tsx';
import { promptOf, type Piece } from './spans.ts';
import { questionOf, sourceWords } from './words.ts';
import { Work } from './work.tsx';

export interface WhyProps {
  runId: string;
  /** `chain`: what followed from the message. */
  tab: string | null;
  cast: Cast;
}

/** Explains a run, live. */
export function Why({ runId, cast }: WhyProps): JSX.Element {
  const { run, error } = useRun(runId);
  const { items } = useTimeline();
  const heading = useRef<HTMLHeadingElement>(null);
  const hasSpoken = items.some((item) => item.type === 'message' && item.message.runId === runId);

  useEffect(() => {
    const before = document.activeElement;
    heading.current!.focus();
    // In a narrow window the drawer has hidden it until now.
    return () => void setTimeout(() => before instanceof HTMLElement && before.focus());
  }, []);

  return (
    <aside
      class="drawer"
      aria-labelledby="why"
      onKeyDown={({ key }) => key === 'Escape' && openWhy(null)}
    >
      <header class="drawer-head">
        <h2 id="why" ref={heading} tabIndex={-1} dir="auto">
          {run ? questionOf(run, cast.nameOf(run.agentId), hasSpoken) : 'Why?'}
        </h2>
        <CopyButton name="Link" text={location.href} />
        <button type="button" class="quiet" aria-label="Close" onClick={() => openWhy(null)}>
          ×
        </button>
      </header>
      {error && !run ? (
        <p class="problem" role="alert">
          {wordsOf(error)}
        </p>
      ) : null}
      {run ? <Answers run={run} cast={cast} /> : null}
    </aside>
  );
}

function Answers({ run, cast }: { run: Run; cast: Cast }) {
  const prompt = promptOf(run);
  return (
    <>
      <Section title="What woke it">
        <Trigger run={run} cast={cast} />
      </Section>
      <Decisions run={run} cast={cast} />
      <Section title="What it did">
        <Work run={run} isOperator={cast.isOperator} />
      </Section>
      {prompt.length > 0 ? <Prompt pieces={prompt} /> : null}
      <Fork run={run} />
    </>
  );
}

function Trigger({ run, cast }: { run: Run; cast: Cast }) {
  const { trigger, chainDepth } = run;
  const depth = `depth ${chainDepth}`;
  if (!('text' in trigger || 'instruction' in trigger || 'service' in trigger)) {
    const kind = trigger.type === 'plan' ? 'A plan' : 'A service';
    return <p>{`${kind} woke it. Only operators see more.`}</p>;
  }
  switch (trigger.type) {
    case 'space_message':
      return (
        <>
          <blockquote class="quote" dir="auto">
            <strong>{cast.nameOf(trigger.sender.id) || trigger.sender.name}</strong> {trigger.text}
          </blockquote>
          <p class="note">{`${trigger.source}: ${sourceWords(trigger.source)} · ${depth}`}</p>
          {trigger.delegatedBy ? (
            <p class="note" dir="auto">
              {`Handed on by ${trigger.delegatedBy.name}`}
              {trigger.note ? `: “${trigger.note}”` : ''}
            </p>
          ) : null}
        </>
      );
    case 'plan':
      return (
        <>
          <blockquote class="quote" dir="auto">
            <strong>{trigger.name}</strong> {trigger.instruction}
          </blockquote>
          <p class="note">
            {`its plan for ${new Date(trigger.scheduledAt).toLocaleString()} · ${depth}`}
          </p>
        </>
      );
    case 'service':
      return (
        <>
          <blockquote class="quote" dir="auto">
            <strong>{trigger.service}</strong>
            <pre tabIndex={0}>{JSON.stringify(trigger.payload, null, 2)}</pre>
          </blockquote>
          <p class="note">{`a webhook · ${depth}`}</p>
        </>
      );
  }
}

function Decisions({ run, cast }: { run: Run; cast: Cast }) {
  const { outcomes } = useRuns();
  const messageId = 'messageId' in run.trigger ? run.trigger.messageId : null;
  const decisions = messageId === null ? undefined : outcomes[messageId];
  if (!decisions) return null;
  return (
    <Section title="What everyone decided">
      <table class="decisions">
        <tbody>
          {decisions.map((outcome) => (
            <Decision
              key={outcome.agentId}
              outcome={outcome}
              name={cast.nameOf(outcome.agentId)}
              isThis={outcome.runId === run.id}
            />
          ))}
        </tbody>
      </table>
    </Section>
  );
}

interface DecisionProps {
  outcome: Outcome;
  name: string;
  /** The drawer explains this run. */
  isThis: boolean;
}

function Decision({ outcome, name, isThis }: DecisionProps) {
  const { runId, state, sourceText } = outcome;
  const reasons = [reasonOf(outcome), sourceText && `chosen: ${sourceText}`];
  return (
    <tr data-outcome={state} aria-current={isThis ? 'true' : undefined}>
      <th scope="row" dir="auto">
        {runId === null || isThis ? (
          name
        ) : (
          <button type="button" class="link" onClick={() => openWhy(runId)}>
            {name}
          </button>
        )}
      </th>
      <td>{stateWords(outcome)}</td>
      <td dir="auto">{reasons.filter(Boolean).join(' · ')}</td>
    </tr>
  );
}

function Prompt({ pieces }: { pieces: readonly Piece[] }) {
  const length = (isKnown: boolean) =>
    pieces.reduce((sum, piece) => sum + (piece.isKnown === isKnown ? piece.text.length : 0), 0);
  const share = Math.round((100 * length(true)) / (length(true) + length(false)));
  return (
    <Section title="What it read">
      <p class="legend">
        {share > 0 ? <mark class="known">{`${share} % as before`}</mark> : null}{' '}
        <mark class="new">new</mark>
      </p>
      <pre class="prompt" tabIndex={0} aria-label="The prompt" dir="auto">
        {pieces.map(({ text, isKnown }) => (
          <span key={String(isKnown)} class={isKnown ? 'known' : 'new'}>
            {text}
          </span>
        ))}
      </pre>
    </Section>
  );
}
