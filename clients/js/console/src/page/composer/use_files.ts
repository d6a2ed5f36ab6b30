// The files of the message that a person writes, wherever they come from.

import { useUploads, type Upload, type Uploads } from '@smartspace/react';
import { isRefused, shortName } from '../../files/file_words.ts';
import { useNotify } from '../../ui/notices.tsx';
import { isolated } from '../../ui/visible.ts';
import { useDrop } from './use_drop.ts';

const MOST_FILES = 10;

export interface ComposedFiles extends Pick<Uploads, 'uploads' | 'isReady' | 'take'> {
  add: (files: File[]) => void;
  /** Takes the files of a paste. */
  pasted: (event: ClipboardEvent) => void;
  /** Files are being dragged over the page. */
  isDragged: boolean;
  /** Why the message can't be sent yet, or ''. */
  hint: string;
}

/** The files of the composer. Without a sender there are none. */
export function useFiles(isMute: boolean): ComposedFiles {
  const { uploads, isReady, add, take } = useUploads();
  const notify = useNotify();
  const addSome = (files: File[]) => {
    if (isMute) return;
    const room = MOST_FILES - uploads.length;
    notify(files.length > room ? `A message has at most ${MOST_FILES} files.` : '');
    add(files.slice(0, room));
  };
  return {
    uploads,
    isReady,
    take,
    add: addSome,
    pasted(event) {
      if (!event.clipboardData) return;
      const { files, types } = event.clipboardData;
      // A copied table or text may come with a picture of itself.
      if (files.length === 0 || types.includes('text/plain')) return;
      event.preventDefault();
      addSome([...files]);
    },
    isDragged: useDrop(addSome) && !isMute,
    hint: isReady ? '' : hintOf(uploads),
  };
}

function hintOf(uploads: readonly Upload[]) {
  const failed = uploads.find(({ status }) => status === 'failed');
  if (!failed) return 'Send waits for the files';
  const action = isRefused(failed.error) ? 'Remove' : 'Retry or remove';
  return `${action} ${isolated(shortName(failed.name))} to send`;
}
