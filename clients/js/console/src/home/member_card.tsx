// The card of a member: who it is, what it does, and what one can do about it.

import type { Entity, Member } from '@smartspace/client';
import { useMe } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { agentPath, entityPath } from '../api/paths.ts';
import { Avatar } from '../members/avatar.tsx';
import { agentHash } from '../navigation/address.ts';
import { PauseButton } from '../studio/agents/list/pause_button.tsx';
import { useAnswer } from '../studio/data/answer.ts';
import { useModal } from '../ui/modal.ts';
import { shownName, visible } from '../ui/visible.ts';

export interface MemberCardProps {
  member: Member;
  hue: number;
  /** It has the space open right now. */
  isHere: boolean;
  onClose: () => void;
}

export function MemberCard({ member, hue, isHere, onClose }: MemberCardProps): JSX.Element {
  const { id, name, type } = member;
  const dialog = useModal();
  const isAgent = type === 'agent';
  const isOperator = useMe().me?.kind === 'operator';
  const { answer } = useAnswer<Entity & { description?: string }>(
    isAgent ? (isOperator ? entityPath(id) : agentPath(id, 'card')) : null,
  );
  const [changed, setChanged] = useState<Entity | null>(null);
  const entity = changed ?? answer;
  const does = entity?.agent?.description ?? answer?.description;
  const message = () => {
    dialog.current?.close();
    mention(name);
  };
  return (
    <dialog
      ref={dialog}
      class={`member-card hue-${hue}`}
      aria-label={shownName(member)}
      onClose={onClose}
    >
      <div class="member-head">
        <Avatar name={name} isAgent={isAgent} />
        <h2 dir="auto">{name}</h2>
      </div>
      <p class="note">{kindText(member, isHere)}</p>
      {does ? <p dir="auto">{visible(does)}</p> : null}
      {isAgent && entity?.agent ? <p class="note">{mayText(entity)}</p> : null}
      <div class="dialog-row">
        {isAgent && isOperator && entity?.agent ? (
          <>
            <PauseButton agent={entity} onChanged={setChanged} />
            <a class="button" href={agentHash(id)}>
              Setup
            </a>
          </>
        ) : null}
        <button type="button" onClick={message}>
          Message
        </button>
        <button type="button" class="primary" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

function kindText({ type, role, guest }: Member, isHere: boolean) {
  const kind = type === 'agent' ? 'Agent' : guest ? 'Guest' : 'Person';
  return [kind, role === 'owner' ? 'owner' : '', isHere ? 'here now' : '']
    .filter(Boolean)
    .join(' · ');
}

// The tools that its configuration names, besides reading and writing messages.
function mayText({ agent }: Entity) {
  const names = (agent?.tools ?? []).map((tool) =>
    'name' in tool ? visible(String(tool.name)) : '',
  );
  const tools = names.filter((name) => name !== '');
  const paused = agent?.paused ? 'It is paused. ' : '';
  if (tools.length === 0) return `${paused}It may read and write messages.`;
  const list = new Intl.ListFormat('en').format(tools);
  return `${paused}It may read and write messages, and use ${list}.`;
}

// As if the person had typed it, so that the composer stores it as a draft.
function mention(name: string) {
  const box = document.querySelector<HTMLTextAreaElement>('#text');
  if (!box || box.disabled) return;
  box.focus();
  box.setRangeText(`@${name} `, box.value.length, box.value.length, 'end');
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));
}
