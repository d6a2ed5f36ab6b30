// The form that writes a message. A sent message is in the timeline at once.

import { useMembers, useSend } from '@smartspace/react';
import type { JSX, TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useRef, useState, type Dispatch } from 'preact/hooks';
import { UploadList } from '../../files/upload_list.tsx';
import { askForSender } from '../../members/sender_question.ts';
import type { SpaceMembers } from '../../members/space_members.ts';
import { leaveMessageBox } from '../timeline/message_keys.ts';
import { ComposerRow } from './composer_row.tsx';
import { MentionList, optionId } from './mention_list.tsx';
import { TargetLine } from './target_line.tsx';
import { useFiles } from './use_files.ts';
import { useFocusOnOpening } from './use_focus.ts';
import { useMentions } from './use_mentions.ts';
import { useStop } from './use_stop.ts';
import { useEditHint, useTarget, type Target } from './use_target.ts';
import { useWouldWake } from './would_wake.ts';

const WRITE = 'Write a message. Mention an agent with @Name.';
const NOBODY = 'No person is a member of this space.';

export interface ComposerProps {
  members: SpaceMembers;
  /** The message that the text replies to or changes. */
  target: Target | null;
  onTarget: Dispatch<Target | null>;
  /** Called when a message was sent. */
  onSent: () => void;
}

export function Composer({ members, target, onTarget, onSent }: ComposerProps): JSX.Element {
  const { space, senderId, people, isOperator } = members;
  const send = useSend();
  const [text, setText] = useState(() => space.getDraft());
  const box = useRef<HTMLTextAreaElement>(null);
  const isEdit = target?.type === 'edit';
  const replyTo = target?.type === 'reply' ? target.message.seq : undefined;
  const wouldWake = useWouldWake(isEdit ? '' : text, members, replyTo);
  const editHint = useEditHint(target, text);
  const { stop, asked } = useStop(members);
  // The operator writes in the name of a person.
  const isMute = isOperator && people.length === 0;
  const files = useFiles(isMute);

  const write = (next: string) => {
    setText(next);
    // The draft of a new message stays.
    if (!isEdit) space.setDraft(next);
    space.setTyping(!isEdit && next.trim() !== '');
  };
  const caret = useCaret(box);
  const mentions = useMentions(useMembers().members, box, (next, at) => {
    caret.current = at;
    write(next);
  });
  const { editLast, save } = useTarget({
    target,
    onTarget,
    members,
    box,
    put(next, at) {
      caret.current = at;
      setText(next);
    },
  });
  const { candidates, current } = mentions;
  const isListed = candidates.length > 0;

  const submit = (senderId: string | null) => {
    // Between two renders the box knows more than the state.
    const value = box.current?.value ?? '';
    const given = value.trim() === '' ? '' : value;
    if (save(given) || isMute || !files.isReady) return;
    if (given === '' && files.uploads.length === 0) return;
    // The text may have changed by then.
    if (isOperator && senderId === null) return askForSender((id) => latest.current(id));
    const attachments = files.take();
    // The timeline shows why a message was refused.
    send(given, { attachments, replyTo, ...(senderId !== null && { senderId }) }).catch(() => {});
    write('');
    onTarget(null);
    onSent();
  };
  const latest = useRef(submit);
  latest.current = submit;
  const pressed = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    // In an input method, Enter selects a character and must not send.
    if (event.isComposing || event.keyCode === 229) return;
    const isChoosing = !event.shiftKey && mentions.pressed(event.key);
    if (event.key === 'Escape' && !isChoosing)
      return target ? onTarget(null) : stop() || leaveMessageBox();
    if (event.key === 'ArrowUp' && event.currentTarget.value === '' && !event.shiftKey)
      return editLast() && event.preventDefault();
    if (!isChoosing && (event.key !== 'Enter' || event.shiftKey)) return;
    event.preventDefault();
    if (!isChoosing) submit(senderId);
  };

  return (
    <form
      id="composer"
      class={files.isDragged ? 'composer dragged' : 'composer'}
      onSubmit={(event) => {
        event.preventDefault();
        submit(senderId);
      }}
    >
      {target ? <TargetLine {...{ target, members }} onCancel={() => onTarget(null)} /> : null}
      {isListed ? <MentionList {...{ candidates, current }} onChoose={mentions.choose} /> : null}
      <UploadList
        uploads={files.uploads}
        label="Files to send"
        onRemoved={() => box.current?.focus()}
      />
      <div class="composer-box">
        <label for="text" class="unseen">
          Message
        </label>
        <textarea
          ref={box}
          id="text"
          rows={1}
          value={text}
          disabled={isMute}
          placeholder={isMute ? NOBODY : WRITE}
          aria-describedby="composer-hint"
          aria-autocomplete="list"
          aria-controls={isListed ? 'mentions' : undefined}
          aria-activedescendant={isListed ? optionId(current) : undefined}
          onInput={(event) => {
            write(event.currentTarget.value);
            mentions.follow(event.currentTarget);
          }}
          onClick={(event) => mentions.follow(event.currentTarget)}
          onKeyDown={pressed}
          onPaste={files.pasted}
          onBlur={() => {
            space.setTyping(false);
            mentions.close();
          }}
        />
        <ComposerRow
          {...{ members, target, isMute, files }}
          said={asked || editHint}
          wouldWake={wouldWake}
        />
      </div>
    </form>
  );
}

// Where the caret goes when the space opens, and when the text has been replaced.
function useCaret(box: { readonly current: HTMLTextAreaElement | null }) {
  const caret = useRef<number | null>(null);
  useFocusOnOpening(box);
  useLayoutEffect(() => {
    if (caret.current !== null) box.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  return caret;
}
