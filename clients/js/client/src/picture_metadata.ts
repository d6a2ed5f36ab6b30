// Removes metadata from pictures before the upload, by drawing them anew. A photo holds where and
// when it was taken, and is larger than a screen.

import type { Environment } from './environment.ts';
import { throwRefusal } from './errors.ts';
import { LONGEST_SIDE_PX, PICTURE_QUALITY } from './limits.ts';

const CAMERA_TYPES = ['image/jpeg', 'image/png', 'image/webp'];

/**
 * The picture without metadata, and not larger than needed. Other files, and all files where the
 * platform has no canvas, stay as they are.
 */
export async function withoutMetadata(
  { createImageBitmap, OffscreenCanvas }: Environment,
  data: Blob,
  type: string,
): Promise<Blob> {
  if (!CAMERA_TYPES.includes(type) || !createImageBitmap || !OffscreenCanvas) return data;
  let bitmap: ImageBitmap;
  try {
    // The orientation is part of the metadata too.
    bitmap = await createImageBitmap(data, { imageOrientation: 'from-image' });
  } catch {
    // It could not be cleaned, so it is not sent.
    throwRefusal('The file is not a picture.');
  }
  try {
    const { width, height } = bitmap;
    const scale = Math.min(1, LONGEST_SIDE_PX / Math.max(width, height));
    const scaled = (length: number) => Math.max(1, Math.round(length * scale));
    const canvas = new OffscreenCanvas(scaled(width), scaled(height));
    // eslint-disable-next-line @typescript-eslint/no-non-null-assertion -- a new canvas has one
    const context = canvas.getContext('2d')!;
    context.imageSmoothingQuality = 'high';
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    return await canvas.convertToBlob({ type, quality: PICTURE_QUALITY });
  } finally {
    bitmap.close();
  }
}
