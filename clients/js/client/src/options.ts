// How the methods of a space do their work: their options.

import type { Attachment } from './schemas.ts';

/** In whose name something is sent. */
export interface SendOptions {
  /** The entity that sends. The operator must name one; others send as themselves. */
  senderId?: string;
}

/** How a message is sent. */
export interface MessageOptions extends SendOptions {
  /** The seq of the message that it replies to. */
  replyTo?: number | undefined;
  /**
   * The files of the message, at most 10: attachments of this space, or their ids. With files the
   * text may be empty.
   */
  attachments?: readonly (string | Attachment)[];
}

/** A file for runtimes without `File`. */
export interface NewFile {
  name: string;
  /** Its media type, such as `text/csv`. */
  type: string;
  data: BlobPart;
}

/** How a file is uploaded. */
export interface AttachOptions {
  /**
   * Uploads a picture as it is. By default a browser encodes JPEG, PNG and WebP again: without
   * metadata such as the place where a photo was taken, at most 2,048 pixels long, and without
   * animation. With `true` the metadata stays, and everybody in the space can read it. GIFs, other
   * files, and all files outside of browsers are always uploaded as they are.
   */
  original?: boolean;
  /** Ends the upload. The promise rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Gets the part that is uploaded, from 0 to 1. Outside of browsers it gets 1 at the end only. */
  onProgress?: (part: number) => void;
}

/** How the address of a file is found. */
export interface FileUrlOptions {
  /** Asks for a new address, as when the known one did not work. */
  renew?: boolean;
}

/** How a form is answered, or a call decided. */
export interface AnswerOptions extends SendOptions {
  signal?: AbortSignal;
}

/** How the dispatch of a message is previewed. */
export interface PreviewOptions extends AnswerOptions {
  /** The seq of the message that it replies to. */
  replyTo?: number | undefined;
}

/** How a message is edited. */
export interface EditOptions extends SendOptions {
  /** Refuses the edit with the status 409 if this is not the present revision of the message. */
  rev?: number;
}

/** How files are applied. */
export interface ApplyOptions {
  /** Resolves to what would be done, and does nothing. */
  dryRun?: boolean;
}
