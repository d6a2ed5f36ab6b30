// Files in words, and how large pictures are shown. Pure.

import type { FilePart, SmartspaceError } from '@smartspace/client';

const KB = 1024;
const MB = KB * KB;

// Larger pictures are shown smaller.
const LARGEST_PX = { width: 416, height: 320 };
// The room for a picture of unknown size.
const USUAL_PX = { width: 240, height: 180 };

// The room for a name in the hint of the composer.
const LONGEST_NAME = 22;

const PICTURES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

/** The types that the server accepts. A phone turns its photos into one of these types. */
export const ACCEPTED =
  'image/png,image/jpeg,image/webp,image/gif,application/pdf,text/plain,.md,.csv,.json,audio/*';

// The names of types that do not end with their usual name.
const NAMES: Record<string, string> = {
  plain: 'Text',
  markdown: 'Markdown',
  mpeg: 'MP3',
  mp4: 'M4A',
};

// The names of all types of a group.
const GROUPS: Record<string, string> = { image: 'pictures', audio: 'audio', text: 'text' };

/** A size: `31 bytes`, `1.5 KB`, `2.0 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < KB) return `${bytes} bytes`;
  return bytes < MB ? `${(bytes / KB).toFixed(1)} KB` : `${(bytes / MB).toFixed(1)} MB`;
}

/** The type and size of a file: `PDF, 1.5 KB`. */
export function aboutFile({ contentType, bytes }: Pick<FilePart, 'contentType' | 'bytes'>): string {
  return `${typeText(contentType)}, ${bytesText(bytes)}`;
}

/** A type of files: `PDF`. */
export function typeText(contentType: string): string {
  const [, group, kind = ''] = /^(.*)\/(?:x-)?(.*)$/.exec(contentType) ?? [];
  if (kind === '*') return GROUPS[group ?? ''] ?? contentType;
  return NAMES[kind] ?? kind.toUpperCase();
}

/** Whether a file has one of these types, such as `image/*`. No types: any. */
export const isOfType = (contentType: string, types: readonly string[]): boolean =>
  types.length === 0 ||
  types.some((type) =>
    type.endsWith('/*') ? contentType.startsWith(type.slice(0, -1)) : contentType === type,
  );

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

/** Whether the server refused a file. It would refuse it again. */
export const isRefused = (error: Error | null): boolean =>
  (error as SmartspaceError | null)?.status === 422;

/** Why a file was not uploaded. */
export function uploadProblem(name: string, error: Error): string {
  const { errors = [] } = error as Partial<SmartspaceError>;
  if (errors[0]?.pointer === '/contentType') return wrongType(name);
  // Without the names of fields, which mean nothing here.
  return errors.map(({ detail }) => detail).join('; ') || error.message;
}

function wrongType(name: string) {
  const [, extension] = /\.(\w{1,9})$/.exec(name) ?? [];
  const files = extension ? `${extension.toUpperCase()} files` : 'Files of this type';
  return (
    `${files} can't be sent. Pictures (PNG, JPEG, WebP, GIF), PDF, text, CSV, JSON and ` +
    'most audio can.'
  );
}

/** A name with its middle left out if it is long. */
export function shortName(name: string): string {
  const letters = [...name];
  if (letters.length <= LONGEST_NAME) return name;
  return `${letters.slice(0, 12).join('')}…${letters.slice(-9).join('')}`;
}

/** Why a file is not shown. */
export const missingWords = (error: Error): string =>
  (error as SmartspaceError).status === 404 ? 'This file is no longer available' : error.message;
