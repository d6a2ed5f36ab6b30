// Files in words, and how large pictures are shown. Pure.

import type { FilePart, SmartspaceError } from '@smartspace/client';

const KB = 1024;
const MB = KB * KB;

// Larger pictures are shown smaller.
const LARGEST_PX = { width: 416, height: 320 };
// The room for a picture whose size is not known.
const USUAL_PX = { width: 240, height: 180 };

const PICTURES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

// Those whose media type is not their usual name.
const NAMES: Record<string, string> = {
  plain: 'Text',
  markdown: 'Markdown',
  mpeg: 'MP3',
  mp4: 'M4A',
};

/** A size: `31 bytes`, `1.5 KB`, `2.0 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < KB) return `${bytes} bytes`;
  return bytes < MB ? `${(bytes / KB).toFixed(1)} KB` : `${(bytes / MB).toFixed(1)} MB`;
}

/** The type and size of a file: `PDF, 1.5 KB`. */
export function aboutFile({ contentType, bytes }: Pick<FilePart, 'contentType' | 'bytes'>): string {
  const kind = contentType.replace(/^.*\/(x-)?/, '');
  return `${NAMES[kind] ?? kind.toUpperCase()}, ${bytesText(bytes)}`;
}

/** Whether the page shows files of this type as pictures. Never SVG, which can hold scripts. */
export const isPicture = (contentType: string): boolean => PICTURES.includes(contentType);

/** How large a picture is shown, in pixels: its own size or smaller. */
export function shownSize({ width, height }: Pick<FilePart, 'width' | 'height'>): {
  width: number;
  height: number;
} {
  if (!width || !height) return USUAL_PX;
  const scale = Math.min(1, LARGEST_PX.width / width, LARGEST_PX.height / height);
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

/** Why a file is not shown. */
export const missingWords = (error: Error): string =>
  (error as SmartspaceError).status === 404 ? 'This file is no longer available' : error.message;
