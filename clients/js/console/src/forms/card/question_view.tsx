// The question of a form, above its fields.

import type { JSX } from 'preact';
import { visible } from '../../ui/visible.ts';
import { Pairs } from './pairs.tsx';
import type { Question } from './question.ts';

const COMPONENTS = ['form', 'buttons'];

/** Shows a question. `id` is the id of its heading, and `ui` the component that the call names. */
export function QuestionView(props: { question: Question; id: string; ui: string }): JSX.Element {
  const { question, id, ui } = props;
  return (
    <>
      <p class="question" id={id} dir="auto">
        {visible(question.heading)}
      </p>
      {question.texts.map((text, index) => (
        <p key={index} class="paragraph" dir="auto">
          {visible(text)}
        </p>
      ))}
      <Pairs pairs={question.rest} />
      {COMPONENTS.includes(ui) ? null : (
        <p class="note" dir="auto">
          {`This page does not know the component “${visible(ui)}”, so it shows a plain form.`}
        </p>
      )}
    </>
  );
}
