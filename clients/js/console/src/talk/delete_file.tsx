// Deletes a file of a message: for its uploader, the owners of the space and the operator.

import type { FilePart, Message } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { spacePath } from '../api/paths.ts';
import type { SpaceMembers } from '../members/space_members.ts';
import { useNotify, wordsOf } from '../ui/notices.tsx';
import { isolated } from '../ui/visible.ts';

/** The files of a message that the reader may delete. Members send only files of their own. */
export function deletableFiles(message: Message, members: SpaceMembers): FilePart[] {
  const { isOperator, meId, people } = members;
  const isOwner = people.some(({ id, role }) => id === meId && role === 'owner');
  if (!isOperator && !isOwner && message.sender.id !== meId) return [];
  const files = message.parts.filter((part): part is FilePart => part.type === 'file');
  return files.filter((file) => !('deleted' in file && file.deleted));
}

interface DeleteFileProps {
  spaceId: string;
  file: FilePart;
}

export function DeleteFile({ spaceId, file }: DeleteFileProps): JSX.Element {
  const client = useClient();
  const notify = useNotify();
  const [isBusy, setIsBusy] = useState(false);
  const name = isolated(file.name);
  const press = async () => {
    if (!confirm(`Delete ${name} for everyone? Its messages stay.`)) return;
    setIsBusy(true);
    const path = `${spacePath(spaceId, 'attachments')}/${file.attachmentId}`;
    try {
      await client.request('DELETE', path, { retry: true });
    } catch (error) {
      notify(wordsOf(error));
    }
    setIsBusy(false);
  };
  return (
    <button type="button" class="quiet" disabled={isBusy} onClick={press} dir="auto">
      Delete {name}
    </button>
  );
}
