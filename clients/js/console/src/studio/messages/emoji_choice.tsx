// The emoji to react with: some to choose from, and a field for any other.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useModal } from '../../ui/modal.ts';

const EMOJI = [
  ...['👍', '👎', '❤️', '🎉', '🙏', '👏', '🙌', '💪'],
  ...['😀', '😂', '😉', '😍', '🤔', '😮', '😢', '😡'],
  ...['✅', '❌', '❓', '❗', '⚠️', '🚀', '🔥', '👀'],
  ...['💡', '📌', '🐛', '⏳', '☕', '🍀', '💯', '🤝'],
];
const IN_A_ROW = 8;
// The longest emoji, of four people who are joined, is shorter.
const LONGEST = 40;

export interface EmojiChoiceProps {
  onChoose: (emoji: string) => void;
  onClose: () => void;
}

/** The arrow keys move between the emoji. */
export function EmojiChoice({ onChoose, onClose }: EmojiChoiceProps): JSX.Element {
  const dialog = useModal();
  const grid = useRef<HTMLDivElement>(null);
  const [other, setOther] = useState('');
  const choose = (emoji: string) => {
    onChoose(emoji);
    dialog.current?.close();
  };
  const pressed = (event: KeyboardEvent) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: IN_A_ROW, ArrowUp: -IN_A_ROW };
    const step = steps[event.key as keyof typeof steps];
    const buttons = [...(grid.current?.querySelectorAll('button') ?? [])];
    const at = buttons.findIndex((button) => button === document.activeElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    buttons[at + step]?.focus();
  };
  return (
    <dialog ref={dialog} class="emoji-choice" aria-label="React with" onClose={onClose}>
      <div ref={grid} class="emoji-grid" role="group" aria-label="Emoji" onKeyDown={pressed}>
        {EMOJI.map((emoji) => (
          <button key={emoji} type="button" class="quiet" onClick={() => choose(emoji)}>
            {emoji}
          </button>
        ))}
      </div>
      <form
        class="emoji-other"
        onSubmit={(event) => {
          event.preventDefault();
          if (other.trim() !== '') choose(other.trim());
        }}
      >
        <label for="other-emoji">Another emoji</label>
        <input
          id="other-emoji"
          type="text"
          autocomplete="off"
          maxLength={LONGEST}
          value={other}
          onInput={(event) => setOther(event.currentTarget.value)}
        />
        <button type="submit">React</button>
      </form>
    </dialog>
  );
}
