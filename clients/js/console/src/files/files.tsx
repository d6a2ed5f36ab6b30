// The files of a message: pictures, and rows to download the others. Of a deleted file the line
// stays.

import type { FilePart } from '@smartspace/client';
import { useFileUrl } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isolated } from '../ui/visible.ts';
import { aboutFile, isPicture, missingWords, shownSize } from './file_words.ts';
import { Lightbox } from './lightbox.tsx';
import { usePictureUrl } from './picture_url.ts';

// How far from the window a file may be when its address is asked for.
const NEAR = '600px 0px';

type ShownFile = FilePart & { deleted?: boolean };

export function Files({ files }: { files: readonly ShownFile[] }): JSX.Element {
  const [opened, setOpened] = useState<number | null>(null);
  const pictures = files.filter((file) => isPicture(file.contentType) && !file.deleted);
  const others = files.filter((file) => !pictures.includes(file));
  return (
    <div class="files">
      <div class="pictures">
        {pictures.map((file, index) => (
          <Picture key={file.attachmentId} file={file} onOpen={() => setOpened(index)} />
        ))}
      </div>
      {others.map((file) =>
        file.deleted ? (
          <Missing key={file.attachmentId} file={file} why="file deleted" />
        ) : (
          <FileRow key={file.attachmentId} file={file} />
        ),
      )}
      {opened === null ? null : (
        <Lightbox pictures={pictures} first={opened} onClose={() => setOpened(null)} />
      )}
    </div>
  );
}

function Picture({ file, onOpen }: { file: FilePart; onOpen: () => void }) {
  const frame = useRef<HTMLButtonElement>(null);
  const isNear = useNear(frame);
  const { src, error, onError } = usePictureUrl(isNear ? file.attachmentId : null);
  const { width, height } = shownSize(file);
  if (error) return <Missing file={file} why={missingWords(error)} />;
  return (
    <button
      ref={frame}
      type="button"
      class="picture"
      // The room is reserved, so that nothing moves when the picture is there.
      style={{ width: `${width}px`, aspectRatio: `${width} / ${height}` }}
      aria-label={`Open ${isolated(file.name)}`}
      onClick={onOpen}
    >
      {src ? <img src={src} alt={file.name} loading="lazy" onError={onError} /> : null}
    </button>
  );
}

function FileRow({ file }: { file: FilePart }) {
  const row = useRef<HTMLAnchorElement>(null);
  const isNear = useNear(row);
  const { url, error } = useFileUrl(isNear ? file.attachmentId : null);
  if (error) return <Missing file={file} why={missingWords(error)} />;
  return (
    // In a tab of its own, so that an answer that is no download does not replace the page.
    <a
      ref={row}
      class="file"
      {...(url === null ? {} : { href: url })}
      download={file.name}
      target="_blank"
      rel="noopener"
    >
      <span dir="auto">{file.name}</span> <span class="note">{aboutFile(file)}</span>
    </a>
  );
}

const Missing = ({ file, why }: { file: FilePart; why: string }) => (
  <p class="file">
    <span dir="auto">{file.name}</span> <span class="note">{why}</span>
  </p>
);

// Whether the node is, or has been, in the window or near it.
function useNear(node: { readonly current: Element | null }): boolean {
  const [isNear, setIsNear] = useState(!globalThis.IntersectionObserver);
  useEffect(() => {
    if (isNear || !node.current) return;
    const seen = (entries: IntersectionObserverEntry[]) =>
      entries.some(({ isIntersecting }) => isIntersecting) && setIsNear(true);
    const root = node.current.closest('.log');
    const observer = new IntersectionObserver(seen, { root, rootMargin: NEAR });
    observer.observe(node.current);
    return () => observer.disconnect();
  }, [isNear]);
  return isNear;
}
