// Why a run was started.

import type { Run } from '@smartspace/client';
import type { JSX } from 'preact';
import { Markdown } from '../markdown/markdown.tsx';
import { isolated, senderName, visible } from '../ui/visible.ts';
import { depthWords, sourceWords } from './words.ts';

export interface TriggerProps {
  run: Run;
  nameOf: (id: string) => string;
}

/** The trigger. Of a plan or a service, members see only the kind. */
export function Trigger({ run, nameOf }: TriggerProps): JSX.Element {
  const { trigger, chainDepth } = run;
  const depth = depthWords(chainDepth);
  if (!('text' in trigger || 'instruction' in trigger || 'payload' in trigger)) {
    const kind = trigger.type === 'plan' ? 'A plan' : 'A service';
    return <p>{`${kind} woke it. Only operators see more.`}</p>;
  }
  switch (trigger.type) {
    case 'space_message':
      return (
        <>
          <Quote name={senderName(trigger.sender, nameOf)} text={trigger.text ?? ''} />
          <p class="note">{`${sourceWords(trigger.source)} · ${depth}`}</p>
          {trigger.delegatedBy ? (
            <p class="note" dir="auto">
              {`Handed on by ${isolated(trigger.delegatedBy.name)}`}
              {trigger.note ? `: “${trigger.note}”` : ''}
            </p>
          ) : null}
        </>
      );
    case 'plan':
      return (
        <>
          <Quote name={isolated(trigger.name)} text={trigger.instruction} />
          <p class="note">
            {`its plan for ${new Date(trigger.scheduledAt).toLocaleString()} · ${depth}`}
          </p>
        </>
      );
    case 'service':
      return (
        <>
          <blockquote class="quote" tabIndex={0} dir="auto">
            <strong>{trigger.service}</strong>
            <pre>{visible(JSON.stringify(trigger.payload, null, 2))}</pre>
          </blockquote>
          <p class="note">{`a webhook · ${depth}`}</p>
        </>
      );
  }
}

// It scrolls if it is long.
const Quote = ({ name, text }: { name: string; text: string }) => (
  <blockquote class="quote" tabIndex={0} dir="auto">
    <strong>{name}</strong> <Markdown text={text} />
  </blockquote>
);
