// Files that a person drops anywhere on the page.

import { useEffect, useRef, useState } from 'preact/hooks';

/** Calls `onFiles` with dropped files. Returns whether files are being dragged over the page. */
export function useDrop(onFiles: (files: File[]) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    const dragged = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      // Otherwise the browser would open the file instead of the page.
      event.preventDefault();
      const isDropped = event.type === 'drop';
      setIsOver(!isDropped);
      if (isDropped && !document.querySelector('dialog[open]'))
        take.current([...event.dataTransfer.files]);
    };
    // Without a node where the pointer is now, it has left the window.
    const left = ({ relatedTarget }: DragEvent) => relatedTarget === null && setIsOver(false);
    addEventListener('dragover', dragged);
    addEventListener('drop', dragged);
    addEventListener('dragleave', left);
    return () => {
      removeEventListener('dragover', dragged);
      removeEventListener('drop', dragged);
      removeEventListener('dragleave', left);
    };
  }, []);
  return isOver;
}
