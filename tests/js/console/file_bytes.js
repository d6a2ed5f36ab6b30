// Files for the tests of attachments: pictures, and a photo with the place where it was taken.

import { PNG } from 'pngjs';

/** A file as `setInputFiles` takes it. */
export const textFile = (name, text = `The text of ${name}.`) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(text),
});

/** A PNG with this size and color. */
export function pngFile(name, width, height, rgb = [40, 90, 160]) {
  const png = new PNG({ width, height });
  for (let at = 0; at < png.data.length; at += 4) png.data.set([...rgb, 255], at);
  return { name, mimeType: 'image/png', buffer: PNG.sync.write(png) };
}

/** A photo of this size, turned by 90°, that says where it was taken. The page writes the JPEG. */
export async function photoFile(page, name, width, height) {
  const url = await page.evaluate(
    ([width, height]) => {
      const canvas = Object.assign(document.createElement('canvas'), {
        width,
        height,
      });
      const context = canvas.getContext('2d');
      context.fillStyle = 'teal';
      context.fillRect(0, 0, width, height / 2);
      return canvas.toDataURL('image/jpeg');
    },
    [width, height],
  );
  const jpeg = Buffer.from(url.split(',')[1], 'base64');
  const buffer = Buffer.concat([jpeg.subarray(0, 2), exifSegment(), jpeg.subarray(2)]);
  return { name, mimeType: 'image/jpeg', buffer };
}

// An APP1 segment: the orientation "rotate by 90°", and a latitude.
function exifSegment() {
  const [SHORT, LONG, ASCII, RATIONAL] = [3, 4, 2, 5];
  const entry = (tag, type, count, value) => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt16LE(tag, 0);
    bytes.writeUInt16LE(type, 2);
    bytes.writeUInt32LE(count, 4);
    bytes.writeUInt32LE(value, 8);
    return bytes;
  };
  const directory = (...entries) => {
    const count = Buffer.alloc(2);
    count.writeUInt16LE(entries.length);
    return Buffer.concat([count, ...entries, Buffer.alloc(4)]);
  };
  const header = Buffer.from('49492a0008000000', 'hex');
  const gpsAt = header.length + 2 + 2 * 12 + 4;
  const latitudeAt = gpsAt + 2 + 2 * 12 + 4;
  const latitude = Buffer.alloc(24);
  [52, 1, 31, 1, 12, 1].forEach((number, index) => latitude.writeUInt32LE(number, 4 * index));
  const tiff = Buffer.concat([
    header,
    directory(entry(0x0112, SHORT, 1, 6), entry(0x8825, LONG, 1, gpsAt)),
    directory(entry(1, ASCII, 2, 'N'.charCodeAt(0)), entry(2, RATIONAL, 3, latitudeAt)),
    latitude,
  ]);
  const content = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const start = Buffer.from([0xff, 0xe1, 0, 0]);
  start.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([start, content]);
}

/** The markers of the segments of a JPEG before its picture, such as 0xe1 for Exif. */
export function segmentsOf(jpeg) {
  const found = [];
  for (let at = 2; jpeg[at + 1] !== 0xda; at += 2 + jpeg.readUInt16BE(at + 2))
    found.push(jpeg[at + 1]);
  return found;
}
