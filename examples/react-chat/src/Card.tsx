import type { ToolPart } from '@smartspace/client';
import { useAnswer, useClient, useForms } from '@smartspace/react';
import { useState } from 'react';

/** A tool call. An open form of it gets buttons: those of the agent, or one that confirms. */
export function Card({ part, id }: { part: ToolPart; id: string }) {
  const { callId, status, resolvedBy } = part;
  const form = useForms().forms.find((each) => each.callId === callId && each.mayAnswer);
  const { answer, decline } = useAnswer();
  const { nameOf } = useClient().space(id);
  const [error, setError] = useState('');
  const act = (done: Promise<void>) => done.catch(({ message }) => setError(message));
  const { title, message, options = ['OK'] } = (part.input ?? {}) as Input;
  const output = part.output as { choice?: string; declined?: boolean } | null;
  const who = typeof resolvedBy === 'string' ? nameOf(resolvedBy) : 'the operator';
  const result = output?.declined ? 'declined' : (output?.choice ?? status);
  return (
    <fieldset data-status={status}>
      <legend>{title ?? message ?? part.name}</legend>
      {form &&
        options.map((choice) => (
          <button key={choice} onClick={() => act(answer(callId, { choice }))}>
            {choice}
          </button>
        ))}
      {form && (
        <button className="quiet" onClick={() => act(decline(callId))}>
          Decline
        </button>
      )}
      {status !== 'pending' && (
        <output>
          {result}
          {resolvedBy && ` (${who})`}
        </output>
      )}
      {error && <p role="alert">{error}</p>}
    </fieldset>
  );
}

type Input = { title?: string; message?: string; options?: string[] };
