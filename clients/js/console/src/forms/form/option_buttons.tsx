// The component "buttons": a comment and one button for each option.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { visible } from '../../ui/visible.ts';
import { useBeginning, useControl, useNewId, type FormParts } from '../fields/controls.ts';
import type { Typed } from '../schema/field_types.ts';
import { labelOf } from '../schema/json.ts';

/** The pointer of the comment in the request's body. */
export const COMMENT_POINTER = '/output/comment';

/** The comment on a choice. */
export function OptionComment({ typed, form }: { typed: Typed; form: FormParts }): JSX.Element {
  const id = useNewId();
  const ref = useRef<HTMLTextAreaElement>(null);
  useBeginning(ref, (control) => (control.value = (typed ?? '') as string));
  useControl(form, COMMENT_POINTER, {
    read: () => ref.current?.value,
    focus: () => ref.current?.focus(),
  });
  return (
    <div class="field">
      <label for={id}>Comment (optional)</label>
      <textarea id={id} ref={ref} rows={1} class="comment" />
    </div>
  );
}

/** The buttons. `choose` gets the answer. */
export function OptionButtons(props: {
  options: readonly unknown[];
  form: FormParts;
  choose(output: { choice: unknown; comment?: string }): void;
}): JSX.Element {
  const { options, form, choose } = props;
  const answer = (choice: unknown) => {
    const comment = form.controls.get(COMMENT_POINTER)?.read() as string;
    choose(comment.trim() === '' ? { choice } : { choice, comment });
  };
  return (
    <>
      {options.map((option, index) => (
        <button key={index} type="button" class="option" dir="auto" onClick={() => answer(option)}>
          {visible(labelOf(option))}
        </button>
      ))}
    </>
  );
}
