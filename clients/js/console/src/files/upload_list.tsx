// Files on their way to a message or to the answer of a form.

import type { Upload } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isolated } from '../ui/visible.ts';
import { bytesText, isPicture, isRefused, uploadProblem } from './file_words.ts';

// Twice the size at which it is shown, for sharp screens.
const THUMBNAIL_PX = 80;

export interface UploadListProps {
  uploads: readonly Upload[];
  /** Its name for a screen reader. */
  label: string;
  /** Called when a file was removed, and its button with it. */
  onRemoved: () => void;
}

/** The files, with their progress. */
export function UploadList(props: UploadListProps): JSX.Element | null {
  const { uploads, label, onRemoved } = props;
  if (uploads.length === 0) return null;
  return (
    <ul class="uploads" aria-label={label}>
      {uploads.map((upload) => (
        <UploadItem key={upload.id} upload={upload} onRemoved={onRemoved} />
      ))}
    </ul>
  );
}

function UploadItem({ upload, onRemoved }: { upload: Upload; onRemoved: () => void }) {
  const { name, file, status, progress, error, attachment, retry, remove } = upload;
  const bytes = attachment?.bytes ?? (file as File).size;
  const item = useRef<HTMLLIElement>(null);
  // A new file shows, and so does the reason of a failure, which makes the item higher.
  useLayoutEffect(() => item.current?.scrollIntoView({ block: 'nearest' }), [status === 'failed']);
  return (
    <li ref={item} data-status={status}>
      {isPicture((file as File).type) ? <Thumbnail file={file as File} /> : null}
      <span class="upload-name" dir="auto">
        {name}
      </span>
      <span class="note">{bytesText(bytes)}</span>
      {status === 'uploading' ? (
        <progress aria-label={`Upload of ${isolated(name)}`} value={progress} />
      ) : null}
      {error ? (
        <span class="problem" role="alert">
          {uploadProblem(name, error)}
        </span>
      ) : null}
      {error && !isRefused(error) ? (
        <button type="button" aria-label={`Retry ${isolated(name)}`} onClick={retry}>
          Retry
        </button>
      ) : null}
      <button
        type="button"
        class="quiet"
        aria-label={`Remove ${isolated(name)}`}
        onClick={() => {
          remove();
          onRemoved();
        }}
      >
        ✕
      </button>
    </li>
  );
}

// A canvas needs no address, which the security policy of the page would have to allow.
function Thumbnail({ file }: { file: File }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isOver = false;
    const draw = (picture: ImageBitmap) => {
      const { width, height } = picture;
      const side = Math.min(width, height);
      const place = [(width - side) / 2, (height - side) / 2, side, side] as const;
      const to = [0, 0, THUMBNAIL_PX, THUMBNAIL_PX] as const;
      if (!isOver) canvas.current?.getContext('2d')?.drawImage(picture, ...place, ...to);
      picture.close();
    };
    // Other files have no thumbnail.
    globalThis.createImageBitmap?.(file).then(draw, () => {});
    return () => void (isOver = true);
  }, [file]);
  return <canvas ref={canvas} width={THUMBNAIL_PX} height={THUMBNAIL_PX} aria-hidden="true" />;
}
