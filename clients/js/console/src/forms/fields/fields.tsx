// The fields of a form on the page.

import type { JSX } from 'preact';
import { visible } from '../../ui/visible.ts';
import { slotsOf } from '../schema/faults.ts';
import type { Field, FieldOf, GroupShape, Typed } from '../schema/field_types.ts';
import { partOf } from '../schema/form_values.ts';
import { wordsFor } from '../schema/json.ts';
import { useControl, type FormParts } from './controls.ts';
import { FileInput } from './file_input.tsx';
import { Checkbox, Checkboxes, Radios, Select, TextBox } from './inputs.tsx';
import { Framed, useNotes } from './labels.tsx';

/** A field. Its first value is `typed`, or its initial value. */
export function FieldView(props: { field: Field; typed?: Typed; form: FormParts }): JSX.Element {
  const { field, form } = props;
  const typed = props.typed === undefined ? field.initial : props.typed;
  switch (field.kind) {
    case 'group':
      return <Group field={field} typed={typed} form={form} />;
    case 'fixed':
      // A constant has nothing to fill in. It is shown because it is sent.
      return <p class="field">{visible(`${field.label}: ${wordsFor(field.value)}`)}</p>;
    case 'checkbox':
    case 'tick':
      return <Checkbox field={field} typed={typed} form={form} />;
    case 'file':
      return <FileInput field={field} form={form} />;
    case 'choices':
      return <Checkboxes field={field} typed={typed} form={form} />;
    case 'choice':
      return field.shows === 'radios' ? (
        <Radios field={field} typed={typed} form={form} />
      ) : (
        <Select field={field} typed={typed} form={form} />
      );
    default:
      return <TextBox field={field} typed={typed} form={form} />;
  }
}

interface GroupProps {
  field: FieldOf<GroupShape>;
  typed: Typed;
  form: FormParts;
}

function Group(props: GroupProps): JSX.Element {
  // The form is the frame of the outermost group.
  if (props.field.name !== null) return <InnerGroup {...props} />;
  return <div class="fields">{fieldsOf(props)}</div>;
}

function InnerGroup(props: GroupProps): JSX.Element {
  const { field, form } = props;
  const notes = useNotes(field, form);
  useControl(form, field.pointer, {
    read: () => undefined,
    focus: () => form.controls.get(slotsOf(field)[0] ?? '')?.focus(),
  });
  return (
    <Framed field={field} notes={notes}>
      {fieldsOf(props)}
    </Framed>
  );
}

const fieldsOf = ({ field, typed, form }: GroupProps): JSX.Element[] =>
  field.fields.map((each) => (
    <FieldView key={each.pointer} field={each} typed={partOf(typed, each.name)} form={form} />
  ));
