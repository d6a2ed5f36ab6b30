// A prompt in two colors: one for text that the model had read before, one for new text.

import type { JSX } from 'preact';
import type { Piece } from './prompt.ts';

// Of a long known text the beginning and the end show.
const LONGEST = 900;
const HEAD = 300;
const TAIL = 150;

/** The pieces of a prompt. A long text that the model knew is folded. */
export const PromptText = ({ pieces }: { pieces: readonly Piece[] }): JSX.Element => (
  <>
    {pieces.map((piece, index) => (
      <div key={index} class={piece.isKnown ? 'known' : 'new'} dir="auto">
        {piece.isKnown && piece.text.length > LONGEST ? <Folded text={piece.text} /> : piece.text}
      </div>
    ))}
  </>
);

function Folded({ text }: { text: string }) {
  const middle = text.slice(HEAD, -TAIL);
  return (
    <>
      {text.slice(0, HEAD)}
      <details>
        <summary>{`… ${middle.length.toLocaleString()} characters as before …`}</summary>
        {middle}
      </details>
      {text.slice(-TAIL)}
    </>
  );
}
