// The menu with the person in whose name the operator writes. If a message waits for the choice,
// the choice sends it.

import type { JSX, TargetedKeyboardEvent } from 'preact';
import { useRef } from 'preact/hooks';
import { answerWith, giveUpSending, SENDER_MENU } from '../../members/sender_question.ts';
import { SenderSelect, type SenderSelectProps } from '../../members/sender_select.tsx';
import { focusMessageBox } from '../../ui/message_box.ts';

export interface SenderMenuProps extends Pick<SenderSelectProps, 'people'> {
  /** A message waits for the choice. */
  isAsked: boolean;
  /** The id of the text that says so. */
  hintId: string;
}

export function SenderMenu({ people, isAsked, hintId }: SenderMenuProps): JSX.Element {
  // The keys of a closed menu choose one person after the other, so there Enter sends.
  const isPassing = useRef(false);
  const chosen = (id: string) => {
    if (!isAsked || isPassing.current || id === '') return;
    answerWith(id);
    focusMessageBox();
  };
  const pressed = (event: TargetedKeyboardEvent<HTMLElement>) => {
    isPassing.current = event.key !== 'Enter';
    const { target } = event;
    if (isPassing.current || !isAsked || !(target instanceof HTMLSelectElement)) return;
    if (target.value !== '') event.preventDefault();
    chosen(target.value);
  };
  return (
    <span
      class="sender-menu"
      onKeyDown={pressed}
      onPointerDown={() => (isPassing.current = false)}
      onFocusOut={({ target }) => {
        // It keeps the focus while another window has it.
        if (target !== document.activeElement) giveUpSending();
      }}
    >
      <label for={SENDER_MENU}>as</label>
      <SenderSelect
        id={SENDER_MENU}
        people={people}
        describedBy={isAsked ? hintId : undefined}
        onChosen={chosen}
      />
    </span>
  );
}
