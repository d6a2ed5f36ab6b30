// The line above the text: the message that it replies to or changes.

import type { JSX } from 'preact';
import type { SpaceMembers } from '../../members/space_members.ts';
import { senderName } from '../../ui/visible.ts';
import { firstWordsOf } from '../../message/message_words.ts';
import type { Target } from './use_target.ts';

export interface TargetLineProps {
  target: Target;
  members: SpaceMembers;
  onCancel: () => void;
}

export const TargetLine = ({ target, members, onCancel }: TargetLineProps): JSX.Element => {
  const { type, message } = target;
  const words = firstWordsOf(message);
  return (
    <div class="target">
      <p role="status" dir="auto">
        {type === 'edit' ? (
          'Edit message '
        ) : (
          <>
            Reply to <strong>{senderName(message.sender, members.nameOf)}</strong>{' '}
          </>
        )}
        <span class="note">{words}</span>
      </p>
      <button
        type="button"
        class="quiet"
        aria-label={type === 'edit' ? 'Stop editing' : 'Do not reply'}
        onClick={onCancel}
      >
        ×
      </button>
    </div>
  );
};
