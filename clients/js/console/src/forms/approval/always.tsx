// Approvals that also count for later calls, behind a line that opens.

import type { Decision } from '@smartspace/client';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { visible } from '../../ui/visible.ts';
import { useNewId } from '../fields/controls.ts';
import { ANY_INPUT, exactScope, fieldScopes, type Scope } from './remember.ts';

export interface AlwaysProps {
  input: unknown;
  decide: (decision: Decision) => void;
}

/** Approves the call, and later ones in this space. */
export function Always({ input, decide }: AlwaysProps): JSX.Element {
  const id = useNewId();
  const select = useRef<HTMLSelectElement>(null);
  const exact = exactScope(input);
  const fields = fieldScopes(input);
  const approve = ({ when }: Scope) =>
    decide({ action: 'approve', remember: { in: 'space', ...(when !== null && { when }) } });
  const button = (scope: Scope) => (
    <button type="button" onClick={() => approve(scope)}>
      {`Always for ${scope.label}`}
    </button>
  );
  return (
    <details
      class="always"
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) currentTarget.scrollIntoView({ block: 'nearest' });
      }}
    >
      <summary>Approve, and always here…</summary>
      <p class="note">
        Later calls of this tool in this space are then made without asking, until somebody deletes
        the allowance in the settings of the space or the rule changes.
      </p>
      <div class="ask-row">
        {exact ? button(exact) : null}
        {button(ANY_INPUT)}
      </div>
      {fields.length === 0 ? null : (
        <div class="ask-row">
          <label for={id}>Field</label>
          <select id={id} ref={select} dir="auto">
            {fields.map(({ label }, index) => (
              <option key={index} value={index}>
                {visible(label)}
              </option>
            ))}
          </select>
          <button
            type="button"
            onClick={() => {
              const scope = fields[Number(select.current?.value)];
              if (scope) approve(scope);
            }}
          >
            Always for this field
          </button>
        </div>
      )}
    </details>
  );
}
