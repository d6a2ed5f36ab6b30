// The files that a person adds to a message. They are uploaded while the message is written.

import type { Attachment, AttachOptions, NewFile, Space, Store } from '@smartspace/client';
import { useSpaceFor } from './context.ts';
import { NONE, useStore } from './store.ts';

/** A file on its way to a message. */
export interface Upload {
  /** Unique among the uploads of the space. */
  id: string;
  file: Blob | NewFile;
  name: string;
  /** The part that is uploaded, from 0 to 1. */
  progress: number;
  status: 'uploading' | 'ready' | 'failed';
  /** Why it has failed: its `message` is a sentence for people. */
  error: Error | null;
  /** The file as messages name it, once it is `ready`. */
  attachment: Attachment | null;
  /** Uploads a failed file again. */
  retry(): void;
  /** Removes the file, and ends its upload. */
  remove(): void;
}

/** The files that a person adds to a message. The functions stay the same. */
export interface Uploads {
  /** In the order in which they were added. */
  uploads: readonly Upload[];
  /** Whether all of them can be sent. Also true without files. */
  isReady: boolean;
  /** Uploads files. At most three are uploaded at once. */
  add(files: Iterable<Blob | NewFile>, options?: Pick<AttachOptions, 'original'>): void;
  /** Removes the files that are ready from the list, and returns them for `send`. */
  take(): Attachment[];
}

const stores = new WeakMap<Space, Map<string, Store<Uploads>>>();
const NO_UPLOADS: Uploads = { uploads: NONE, isReady: true, add: () => {}, take: () => [] };

/**
 * Returns the files that a person adds to a message in this space, and the functions that add and
 * take them. It changes with their progress. The files stay when the component unmounts, so that a
 * person finds them again after a look at another space; a reload of the page loses them. `name`
 * keeps apart what has files of its own, such as the answer to a form.
 */
export function useUploads(spaceId?: string, name = ''): Uploads {
  const space = useSpaceFor('useUploads', spaceId);
  const named = stores.get(space) ?? new Map<string, Store<Uploads>>();
  stores.set(space, named);
  const store = named.get(name) ?? createUploads(space);
  named.set(name, store);
  return useStore(store, NO_UPLOADS);
}

function createUploads(space: Space): Store<Uploads> {
  const listeners = new Set<() => void>();
  let lastId = 0;
  let state: Uploads = { uploads: NONE, isReady: true, add, take };

  function set(uploads: readonly Upload[]) {
    state = { ...state, uploads, isReady: uploads.every(({ status }) => status === 'ready') };
    listeners.forEach((listener) => listener());
  }

  // An upload that was removed is not in the list.
  const change = (id: string, part: Partial<Upload>) =>
    set(state.uploads.map((each) => (each.id === id ? { ...each, ...part } : each)));

  function addOne(file: Blob | NewFile, options?: AttachOptions) {
    const id = `upload ${(lastId += 1)}`;
    let abort: AbortController;
    const start = () => {
      abort = new AbortController();
      const onProgress = (progress: number) => change(id, { progress });
      space.attach(file, { ...options, onProgress, signal: abort.signal }).then(
        (attachment) => change(id, { status: 'ready', attachment, progress: 1 }),
        (error) => change(id, { status: 'failed', error }),
      );
    };
    const retry = () => {
      const upload = state.uploads.find((each) => each.id === id);
      // Otherwise a second upload would run beside the first one.
      if (upload?.status !== 'failed') return;
      change(id, { status: 'uploading', error: null, progress: 0 });
      start();
    };
    const remove = () => {
      abort.abort();
      set(state.uploads.filter((each) => each.id !== id));
    };
    set([...state.uploads, { ...begun(id, file), retry, remove }]);
    start();
  }

  function add(files: Iterable<Blob | NewFile>, options?: AttachOptions) {
    for (const file of files) addOne(file, options);
  }

  function take() {
    const taken = state.uploads.flatMap(({ attachment }) => (attachment ? [attachment] : []));
    set(state.uploads.filter(({ attachment }) => !attachment));
    return taken;
  }

  return {
    subscribe(given) {
      const listener = () => given();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getSnapshot: () => state,
  };
}

const begun = (id: string, file: Blob | NewFile): Omit<Upload, 'retry' | 'remove'> => ({
  id,
  file,
  name: (file as Partial<NewFile>).name ?? 'file',
  progress: 0,
  status: 'uploading',
  error: null,
  attachment: null,
});
