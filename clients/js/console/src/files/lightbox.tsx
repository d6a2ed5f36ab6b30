// A dialog with a large picture, and the way to the other pictures of the message.

import type { FilePart } from '@smartspace/client';
import { useFileUrl } from '@smartspace/react';
import type { JSX } from 'preact';
import { createPortal } from 'preact/compat';
import { useState } from 'preact/hooks';
import { useModal } from '../ui/modal.ts';
import { aboutFile, missingWords } from './file_words.ts';
import { usePictureUrl } from './picture_url.ts';

export interface LightboxProps {
  pictures: readonly FilePart[];
  /** The index of the picture that is shown first. */
  first: number;
  onClose: () => void;
}

/** Shows one picture at a time. The arrow keys show the others, Esc closes. */
export function Lightbox({ pictures, first, onClose }: LightboxProps): JSX.Element | null {
  const dialog = useModal();
  const [index, setIndex] = useState(first);
  const file = pictures[index];
  if (!file) return null;

  const count = pictures.length;
  const step = (by: number) => setIndex((index + by + count) % count);
  const close = () => dialog.current?.close();
  const pressed = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    step(by);
  };
  // In the body, because the timeline is read aloud when something is added to it.
  return createPortal(
    <dialog
      ref={dialog}
      class="lightbox"
      aria-label={count > 1 ? `Picture ${index + 1} of ${count}` : 'Picture'}
      onClose={onClose}
      onKeyDown={pressed}
      // The backdrop is part of the dialog.
      onClick={({ target }) => target === dialog.current && close()}
    >
      <Large key={file.attachmentId} file={file} />
      <p aria-live="polite">
        <span dir="auto">{file.name}</span> <span class="note">{aboutFile(file)}</span>
      </p>
      <div class="dialog-row">
        {count > 1 ? (
          <>
            <button type="button" aria-label="Previous" onClick={() => step(-1)}>
              ‹
            </button>
            <button type="button" aria-label="Next" onClick={() => step(1)}>
              ›
            </button>
          </>
        ) : null}
        <Download file={file} />
        <button type="button" class="primary" autofocus onClick={close}>
          Close
        </button>
      </div>
    </dialog>,
    document.body,
  );
}

function Large({ file }: { file: FilePart }) {
  const { src, error, onError } = usePictureUrl(file.attachmentId);
  return (
    <div class="large">
      {src && !error ? <img src={src} alt={file.name} onError={onError} /> : null}
      {error ? <p>{missingWords(error)}</p> : null}
    </div>
  );
}

function Download({ file }: { file: FilePart }) {
  const { url } = useFileUrl(file.attachmentId);
  if (!url) return null;
  return (
    <a class="button" href={url} download={file.name} target="_blank" rel="noopener">
      Download
    </a>
  );
}
