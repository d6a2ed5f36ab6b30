// The control of a field that asks for files. They are uploaded when they are picked, as those of a
// message.

import { useUploads, type Upload } from '@smartspace/react';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ACCEPTED, bytesText, isOfType, isPicture, typeText } from '../../files/file_words.ts';
import { UploadList } from '../../files/upload_list.tsx';
import { isolated, visible } from '../../ui/visible.ts';
import type { FieldOf, FileShape } from '../schema/field_types.ts';
import { useControl, useNewId, type FormParts } from './controls.ts';
import { Labelled, useNotes } from './labels.tsx';

const MOST_FILES = 10; // As many as an answer may name.

/** One file, or some. */
export function FileInput(props: { field: FieldOf<FileShape>; form: FormParts }): JSX.Element {
  const { field, form } = props;
  const notes = useNotes(field, form);
  const id = useNewId();
  const input = useRef<HTMLInputElement>(null);
  const [refused, setRefused] = useState('');
  const files = useUploads(undefined, `${form.uploads ?? ''} ${field.pointer}`);
  const latest = useRef(files);
  latest.current = files;
  useControl(form, field.pointer, {
    read: () => idsOf(latest.current.uploads),
    focus: () => input.current?.focus(),
    sent: () => void latest.current.take(),
  });
  const most = field.isList ? Math.min(field.maxItems ?? MOST_FILES, MOST_FILES) : 1;
  const pick = (picked: readonly File[]) => {
    const fitting = picked.filter((file) => refusalOf(file, field) === '');
    setRefused(picked.map((file) => refusalOf(file, field)).find(Boolean) ?? '');
    if (fitting.length === 0) return;
    // A field for one file shows the last one that was picked.
    if (!field.isList) files.uploads.forEach(({ remove }) => remove());
    files.add(fitting.slice(0, field.isList ? most - files.uploads.length : 1));
  };
  return (
    <Labelled field={field} controlId={id} notes={notes}>
      <UploadList
        uploads={files.uploads}
        label={`Files for ${isolated(field.label)}`}
        onRemoved={() => {
          notes.clear();
          input.current?.focus();
        }}
      />
      <label class="button attach pick">
        <input
          ref={input}
          id={id}
          type="file"
          class="unseen"
          multiple={field.isList}
          accept={field.contentTypes.join() || ACCEPTED}
          required={field.isMarked && files.uploads.length === 0}
          aria-describedby={notes.ids}
          aria-invalid={notes.invalid}
          onChange={({ currentTarget }) => {
            pick([...(currentTarget.files ?? [])]);
            // The same file can be chosen again.
            currentTarget.value = '';
          }}
        />
        {!field.isList && files.uploads.length > 0 ? 'Choose another file' : 'Choose a file'}
      </label>
      <p class="problem" role="alert" dir="auto">
        {refused}
      </p>
    </Labelled>
  );
}

// Null: a file is on its way, or has failed.
function idsOf(uploads: readonly Upload[]): readonly string[] | null {
  const ids = uploads.flatMap(({ attachment }) => attachment?.id ?? []);
  return ids.length === uploads.length ? ids : null;
}

// Why a file does not fit, or ''. A picture is made smaller before it is uploaded, and a browser
// does not know all types: then the server decides.
function refusalOf({ name, type, size }: File, { contentTypes, maxBytes }: FileShape): string {
  if (type !== '' && !isOfType(type, contentTypes))
    return `${visible(name)} does not fit: expected ${contentTypes.map(typeText).join(' or ')}.`;
  if (maxBytes !== undefined && size > maxBytes && !isPicture(type))
    return `${visible(name)} is too large: expected at most ${bytesText(maxBytes)}.`;
  return '';
}
