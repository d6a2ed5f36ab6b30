// The button that adds files to the message that a person writes.

import type { JSX } from 'preact';
import { ACCEPTED } from '../../files/file_words.ts';

export interface AttachButtonProps {
  disabled: boolean;
  onFiles: (files: File[]) => void;
}

export const AttachButton = ({ disabled, onFiles }: AttachButtonProps): JSX.Element => (
  <label class="button attach">
    <input
      type="file"
      id="attach"
      class="unseen"
      multiple
      accept={ACCEPTED}
      disabled={disabled}
      onChange={({ currentTarget: input }) => {
        onFiles([...(input.files ?? [])]);
        // The same file can be chosen again.
        input.value = '';
      }}
    />
    <span aria-hidden="true">+</span>
    <span class="unseen">Attach files</span>
  </label>
);
