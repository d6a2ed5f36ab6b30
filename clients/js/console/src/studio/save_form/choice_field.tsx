// A field with a few choices in words: radio buttons.

import type { JSX } from 'preact';
import { useField, type FieldProps } from './fields.tsx';

export interface ChoiceFieldProps extends FieldProps {
  /** The stored value. */
  value: string;
  /** The value that is chosen now. */
  chosen: string;
  options: readonly { value: string; text: string; hint?: string }[];
  onChoose: (value: string) => void;
}

/** One of a few values, each with a sentence about its meaning. */
export function ChoiceField(props: ChoiceFieldProps): JSX.Element {
  const { label, value, chosen, options, onChoose, disabled } = props;
  const { control, notes } = useField(props);
  const { id, ...rest } = control;
  return (
    <fieldset class="choice-field" disabled={disabled}>
      <legend>{label}</legend>
      {options.map((option) => (
        <div key={option.value}>
          <label class="check">
            <input
              {...rest}
              type="radio"
              value={option.value}
              defaultChecked={option.value === value}
              checked={option.value === chosen}
              aria-describedby={option.hint ? `${id}-${option.value}` : undefined}
              onChange={() => onChoose(option.value)}
            />
            {option.text}
          </label>
          {option.hint ? (
            <p id={`${id}-${option.value}`} class="note">
              {option.hint}
            </p>
          ) : null}
        </div>
      ))}
      {notes}
    </fieldset>
  );
}
