// The row below the text: whose message it is, its files, what to know about it, and Send.

import type { JSX } from 'preact';
import { useIsSenderAsked } from '../../members/sender_question.ts';
import type { SpaceMembers } from '../../members/space_members.ts';
import { AttachButton } from './attach.tsx';
import { SenderMenu } from './sender_menu.tsx';
import type { ComposedFiles } from './use_files.ts';
import type { Target } from './use_target.ts';
import { Wakes } from './wakes.tsx';
import type { WouldWake } from './would_wake.ts';

const HINT = 'composer-hint';
const HINTS = {
  send: 'Enter sends, Shift+Enter makes a new line',
  reply: 'Enter sends, Esc sends no reply',
  edit: 'Enter saves, Esc leaves it as it is',
};

export interface ComposerRowProps {
  members: SpaceMembers;
  target: Target | null;
  /** Nobody can send. */
  isMute: boolean;
  files: ComposedFiles;
  /** What to know about the text, or ''. */
  said: string;
  wouldWake: WouldWake;
}

export function ComposerRow(props: ComposerRowProps): JSX.Element {
  const { members, target, isMute, files, wouldWake } = props;
  const isEdit = target?.type === 'edit';
  const isAsked = useIsSenderAsked();
  const said = isAsked ? askedText(members) : files.hint || props.said;
  return (
    <div class="composer-row">
      {members.isOperator && !isEdit ? (
        <SenderMenu people={members.people} isAsked={isAsked} hintId={HINT} />
      ) : null}
      {isEdit ? null : <AttachButton disabled={isMute} onFiles={files.add} />}
      <span
        id={HINT}
        class={isAsked ? 'hint said asked' : said || wouldWake.line ? 'hint said' : 'hint'}
        dir="auto"
      >
        {said ||
          (wouldWake.line ? (
            <Wakes {...wouldWake} nameOf={members.nameOf} />
          ) : (
            HINTS[target?.type ?? 'send']
          ))}
      </span>
      <button
        type="submit"
        id="send"
        class="primary"
        disabled={!isEdit && (isMute || !files.isReady)}
      >
        {isEdit ? 'Save' : 'Send'}
      </button>
    </div>
  );
}

// With the keys, a choice does not send yet.
const askedText = ({ senderId }: SpaceMembers) =>
  senderId === null ? 'Choose in whose name you write' : 'Enter sends it in this name';
