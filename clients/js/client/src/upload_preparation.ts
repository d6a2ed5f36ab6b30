// Makes a file ready for its upload: its name and type as the server wants them, a picture without
// its metadata, and a hash.

import type { Environment } from './environment.ts';
import { throwRefusal } from './errors.ts';
import { LARGEST_FILE_BYTES, LONGEST_NAME } from './limits.ts';
import { withoutMetadata } from './picture_metadata.ts';
import type { NewFile } from './types.ts';

// Browsers know no type for some of these names, or another one.
const TYPES: Record<string, string> = {
  csv: 'text/csv',
  flac: 'audio/flac',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  log: 'text/plain',
  m4a: 'audio/mp4',
  markdown: 'text/markdown',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  txt: 'text/plain',
  wav: 'audio/wav',
  weba: 'audio/webm',
};

/** What the server learns of a new file before its upload. */
export interface NewAttachment {
  name: string;
  contentType: string;
  bytes: number;
  sha256: string;
}

/** The bytes to upload, and their description. Rejects if the file can't be sent. */
export async function prepareUpload(
  env: Environment,
  file: Blob | NewFile,
  original: boolean,
): Promise<{ about: NewAttachment; data: Blob }> {
  const given = file instanceof Blob ? file : new Blob([file.data], { type: file.type });
  const name = nameOf((file as Partial<NewFile>).name);
  const type = typeOf(name, given.type);
  const data = original ? given : await withoutMetadata(env, given, type);
  // A browser that can't write a type of pictures writes PNG.
  const contentType = data === given ? type : data.type;
  const about = {
    name: contentType === type ? name : name.replace(/(\.\w+)?$/, '.png'),
    contentType,
    bytes: data.size,
    sha256: await sha256Of(data),
  };
  return { about, data };
}

// Whole characters, and none that the server refuses: those that control a terminal, are not shown,
// or end a folder.
const nameOf = (name = '') =>
  [...(name || 'file').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}/\\]/gu, ' ')]
    .slice(-LONGEST_NAME)
    .join('');

/** The type of a file with this name, if the platform says `type`. */
export function typeOf(name: string, type: string): string {
  const extension = /\.(\w+)$/.exec(name)?.[1] ?? '';
  return TYPES[extension.toLowerCase()] ?? (type.split(';')[0] || 'application/octet-stream');
}

async function sha256Of(data: Blob): Promise<string> {
  // A larger file may not fit into the memory.
  if (data.size > LARGEST_FILE_BYTES) throwRefusal('The file is larger than 20 MiB.');
  if (data.size === 0) throwRefusal('The file is empty.');
  // Only secure pages have it.
  if (!crypto.subtle) throwRefusal('Files need a page with https://.');
  const digest = await crypto.subtle.digest('SHA-256', await data.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
