// One approval rule as a row of fields.

import type { JSX } from 'preact';
import { useField } from '../../save_form/fields.tsx';
import type { Row } from './approval_rules.ts';

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
    onValue: (value: string) => onChange({ ...row, [name]: value }),
  });
  return (
    <fieldset class="choice-field rule">
      <legend>{`Rule ${index + 1}`}</legend>
      <div class="columns">
        <RuleText {...field('tools', 'Tools')} hint="Names, with * for any text." />
        <RuleSelect {...field('action', 'Then')} options={{ ask: 'Ask', deny: 'Refuse' }} />
      </div>
      <RuleText {...field('when', 'Only when (CEL)')} hint="Such as double(input.amount) > 500.0" />
      {row.action === 'deny' ? null : (
        <div class="columns">
          <RuleText
            {...field('by', 'Who decides')}
            options={['members', 'owners']}
            hint="members, owners, or ids of people."
          />
          <RuleText {...field('quorum', 'Approvals needed')} />
          <RuleText {...field('expiresAfter', 'Waits at most')} hint="Such as 2 hours." />
          <RuleSelect
            {...field('onExpire', 'After that')}
            options={{ decline: 'Decline the call', end: 'End the run' }}
          />
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

interface RuleFieldProps {
  name: string;
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: string;
}

function RuleText(props: RuleFieldProps & { options?: readonly string[] }): JSX.Element {
  const { label, value, onValue, options } = props;
  const { control, notes } = useField(props);
  const listId = `${control.id}-options`;
  return (
    <div class="field">
      <label for={control.id}>{label}</label>
      <input
        {...control}
        type="text"
        value={value}
        list={options ? listId : undefined}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {options ? (
        <datalist id={listId}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      ) : null}
      {notes}
    </div>
  );
}

function RuleSelect(props: RuleFieldProps & { options: Record<string, string> }): JSX.Element {
  const { label, value, onValue, options } = props;
  const { control, notes } = useField(props);
  return (
    <div class="field">
      <label for={control.id}>{label}</label>
      <select {...control} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {Object.entries(options).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      {notes}
    </div>
  );
}
