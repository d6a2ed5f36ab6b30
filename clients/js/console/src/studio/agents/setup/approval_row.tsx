// One approval rule as a row of fields.

import type { JSX } from 'preact';
import { SelectField, TextField } from '../../save_form/fields.tsx';
import type { Row } from './approval_rules.ts';

const ACTIONS = [
  { value: 'ask', text: 'Ask' },
  { value: 'deny', text: 'Refuse' },
];
const ENDINGS = [
  { value: 'decline', text: 'Decline the call' },
  { value: 'end', text: 'End the run' },
];

export interface ApprovalRowProps {
  row: Row;
  index: number;
  count: number;
  /** The JSON pointer of the rule. */
  root: string;
  onChange: (row: Row) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
}

/** A rule. One that refuses needs no people. */
export function ApprovalRow(props: ApprovalRowProps): JSX.Element {
  const { row, index, count, root, onChange, onMove, onRemove } = props;
  const field = (name: keyof Row, label: string) => ({
    name: `${root}/${name}`,
    label,
    value: String(row[name]),
  });
  const set = (name: keyof Row) => (value: string) => onChange({ ...row, [name]: value });
  const text = (name: keyof Row, label: string) => ({ ...field(name, label), onValue: set(name) });
  const choice = (name: keyof Row, label: string) => ({
    ...field(name, label),
    onChoose: set(name),
  });
  return (
    <fieldset class="choice-field rule">
      <legend>{`Rule ${index + 1}`}</legend>
      <div class="columns">
        <TextField {...text('tools', 'Tools')} hint="Names, with * for any text." />
        <SelectField {...choice('action', 'Then')} options={ACTIONS} />
      </div>
      <TextField {...text('when', 'Only when (CEL)')} hint="Such as double(input.amount) > 500.0" />
      {row.action === 'deny' ? null : (
        <div class="columns">
          <TextField
            {...text('by', 'Who decides')}
            options={['members', 'owners']}
            hint="members, owners, or ids of people."
          />
          <TextField {...text('quorum', 'Approvals needed')} />
          <TextField {...text('expiresAfter', 'Waits at most')} hint="Such as 2 hours." />
          <SelectField {...choice('onExpire', 'After that')} options={ENDINGS} />
        </div>
      )}
      <div class="ask-row">
        <MoveButton by={-1} index={index} disabled={index === 0} onMove={onMove} />
        <MoveButton by={1} index={index} disabled={index === count - 1} onMove={onMove} />
        <button
          type="button"
          class="quiet"
          aria-label={`Remove rule ${index + 1}`}
          onClick={onRemove}
        >
          Remove
        </button>
      </div>
    </fieldset>
  );
}

interface MoveProps {
  by: -1 | 1;
  index: number;
  disabled: boolean;
  onMove: (by: number) => void;
}

const MoveButton = ({ by, index, disabled, onMove }: MoveProps): JSX.Element => {
  const way = by < 0 ? 'up' : 'down';
  return (
    <button
      type="button"
      class="quiet"
      disabled={disabled}
      aria-label={`Move rule ${index + 1} ${way}`}
      onClick={() => onMove(by)}
    >
      {by < 0 ? '↑' : '↓'}
    </button>
  );
};
