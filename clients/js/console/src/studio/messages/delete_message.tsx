// The question before a message is deleted.

import type { JSX } from 'preact';
import { useModal } from '../../ui/modal.ts';

export interface DeleteMessageProps {
  onDelete: () => void;
  onClose: () => void;
}

export function DeleteMessage({ onDelete, onClose }: DeleteMessageProps): JSX.Element {
  const dialog = useModal();
  const close = () => dialog.current?.close();
  return (
    <dialog ref={dialog} class="question" aria-labelledby="delete-title" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onDelete();
          close();
        }}
      >
        <h2 id="delete-title">Delete this message?</h2>
        <p>
          It disappears for everyone, and from what the agents have read. Answers that quote it
          stay, and so does what models and tools have received.
        </p>
        <p>If it was a secret, change the secret.</p>
        <div class="dialog-row">
          <button type="button" onClick={close}>
            Keep it
          </button>
          <button type="submit" class="danger">
            Delete
          </button>
        </div>
      </form>
    </dialog>
  );
}
