// The controls of single fields. They are uncontrolled: a frame that arrives while a person types
// changes neither text nor selection.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { visible } from '../../ui/visible.ts';
import type {
  CheckboxShape,
  ChoiceShape,
  ChoicesShape,
  FieldOf,
  JsonShape,
  LinesShape,
  NumberShape,
  Option,
  Shape,
  TextShape,
  TickShape,
  Typed,
} from '../schema/field_types.ts';
import { wordsFor } from '../schema/json.ts';
import { useBeginning, useControl, useNewId, type FormParts } from './controls.ts';
import { Framed, InlineLabel, Labelled, useNotes } from './labels.tsx';

interface InputProps<S extends Shape> {
  field: FieldOf<S>;
  /** The first value of the control. */
  typed: Typed;
  form: FormParts;
}

type TextBoxShape = TextShape | NumberShape | LinesShape | JsonShape;

/** A text, a number, lines, or JSON. */
export function TextBox({ field, typed, form }: InputProps<TextBoxShape>): JSX.Element {
  const notes = useNotes(field, form);
  const id = useNewId();
  const ref = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  useBeginning(ref, (control) => (control.value = (typed ?? '') as string));
  useControl(form, field.pointer, {
    read: () => (ref.current?.validity.badInput ? null : ref.current?.value),
    focus: () => ref.current?.focus(),
  });
  const shared = {
    id,
    required: field.isMarked,
    title: field.kind === 'text' ? field.pattern : undefined,
    'aria-describedby': notes.ids,
    'aria-invalid': notes.invalid,
  };
  const input = field.kind === 'text' ? field.input : 'text';
  const first = String(typed ?? '');
  const isJson = field.kind === 'json';
  return (
    <Labelled field={field} controlId={id} notes={notes}>
      {input === 'textarea' || field.kind === 'lines' || isJson ? (
        <textarea
          {...shared}
          ref={ref}
          rows={2}
          class={field.kind}
          spellcheck={isJson ? false : undefined}
        />
      ) : (
        <input
          {...shared}
          ref={ref}
          type={input as 'text'} // Preact's types distinguish input types by their ARIA roles.
          inputmode={field.kind === 'number' ? digitsOf(field) : undefined}
        />
      )}
      {visible(first) === first ? null : (
        <p class="note" dir="auto">{`With what does not show: ${visible(first)}`}</p>
      )}
    </Labelled>
  );
}

/** One of the options, as a list. */
export function Select({ field, typed, form }: InputProps<ChoiceShape>): JSX.Element {
  const notes = useNotes(field, form);
  const id = useNewId();
  const ref = useRef<HTMLSelectElement>(null);
  useBeginning(ref, (control) => (control.value = (typed ?? '') as string));
  useControl(form, field.pointer, {
    read: () => ref.current?.value,
    focus: () => ref.current?.focus(),
  });
  return (
    <Labelled field={field} controlId={id} notes={notes}>
      <select
        id={id}
        ref={ref}
        required={field.isMarked}
        aria-describedby={notes.ids}
        aria-invalid={notes.invalid}
      >
        <option value="">–</option>
        {field.options.map(({ label }, index) => (
          <option key={index} value={index}>
            {visible(label)}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** One of the options, as radio buttons. */
export function Radios({ field, typed, form }: InputProps<ChoiceShape>): JSX.Element {
  const notes = useNotes(field, form);
  const name = useNewId();
  return (
    <Framed field={field} notes={notes} isRadioGroup>
      <Boxes
        options={field.options}
        shared={{ type: 'radio', name, 'aria-invalid': notes.invalid }}
        isChecked={(index) => typed === index}
        read={(checked) => checked[0] ?? ''}
        pointer={field.pointer}
        form={form}
      />
    </Framed>
  );
}

/** Some of the options, as checkboxes. */
export function Checkboxes({ field, typed, form }: InputProps<ChoicesShape>): JSX.Element {
  const notes = useNotes(field, form);
  return (
    <Framed field={field} notes={notes}>
      <Boxes
        options={field.options}
        shared={{ type: 'checkbox', 'aria-invalid': notes.invalid }}
        isChecked={(index) => (typed as readonly string[]).includes(index)}
        read={(checked) => checked}
        pointer={field.pointer}
        form={form}
      />
    </Framed>
  );
}

// A box for each option.
function Boxes(props: {
  options: readonly Option[];
  /** The attributes that all boxes have. */
  shared: { type: 'radio' | 'checkbox'; name?: string; 'aria-invalid': 'true' | undefined };
  isChecked(index: string): boolean;
  read(checked: string[]): Typed;
  pointer: string;
  form: FormParts;
}): JSX.Element {
  const { options, shared, isChecked, read, pointer, form } = props;
  const boxes = useRef<(HTMLInputElement | null)[]>([]);
  useBeginning(boxes, (nodes) =>
    nodes.forEach((node, index) => node && (node.checked = isChecked(String(index)))),
  );
  useControl(form, pointer, {
    read: () => read(boxes.current.flatMap((box) => (box?.checked ? [box.value] : []))),
    focus: () => boxes.current[0]?.focus(),
  });
  return (
    <>
      {options.map(({ label }, index) => (
        <InlineLabel key={index} text={label}>
          <input
            {...shared}
            ref={(node: HTMLInputElement | null) => void (boxes.current[index] = node)}
            value={index}
          />
        </InlineLabel>
      ))}
    </>
  );
}

export function Checkbox(props: InputProps<CheckboxShape | TickShape>): JSX.Element {
  const { field, typed, form } = props;
  const notes = useNotes(field, form);
  const ref = useRef<HTMLInputElement>(null);
  useBeginning(ref, (control) => (control.checked = typed === true));
  useControl(form, field.pointer, {
    read: () => ref.current?.checked,
    focus: () => ref.current?.focus(),
  });
  const isConstant = field.kind === 'tick' && !field.isAgreement;
  const text = isConstant ? `${field.label}: ${wordsFor(field.value)}` : field.label;
  return (
    <div class="field" onInput={notes.clear}>
      <InlineLabel text={text} isMarked={field.isMarked}>
        <input
          ref={ref}
          type="checkbox"
          required={field.isMarked}
          aria-describedby={notes.ids}
          aria-invalid={notes.invalid}
        />
      </InlineLabel>
      {notes.hint}
      {notes.fault}
    </div>
  );
}

// The digits keyboard of some phones has no minus sign.
function digitsOf({ isInteger, minimum, exclusiveMinimum }: NumberShape): string | undefined {
  if (!((minimum ?? -1) >= 0 || (exclusiveMinimum ?? -1) >= 0)) return undefined;
  return isInteger ? 'numeric' : 'decimal';
}
