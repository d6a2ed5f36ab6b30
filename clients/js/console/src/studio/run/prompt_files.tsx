// The files that the model got with a prompt.

import type { Step } from '@smartspace/client';
import type { JSX } from 'preact';
import { aboutFile } from '../../files/file_words.ts';

/** A file of a stored prompt. */
export interface PromptFile {
  attachmentId: string;
  name: string;
  contentType: string;
  bytes: number;
  /** The text before the file: `#17 [file #1 "plan.pdf" …]`. */
  label: string;
}

/** The files of these prompts, in the order in which the model got them. */
export const filesOf = (steps: readonly Pick<Step, 'prompt'>[]): PromptFile[] =>
  steps.flatMap(({ prompt }) => prompt.messages.flatMap(filesIn));

/** One file in words: `PDF, 1.5 KB · message #17`, `PNG, 20 KB · from draw`. */
export function aboutPromptFile(file: PromptFile): string {
  const [, seq, tool] = /^(#\d+)|^From ([\w-]+):/.exec(file.label) ?? [];
  const from = seq ? `message ${seq}` : tool && `from ${tool}`;
  return from ? `${aboutFile(file)} · ${from}` : aboutFile(file);
}

/** A block of the prompt with one line for each file. */
export const PromptFiles = ({ files }: { files: readonly PromptFile[] }): JSX.Element | null =>
  files.length === 0 ? null : (
    <div class="prompt-block">
      <h4>Files</h4>
      <ul class="prompt-files" aria-label="Files">
        {files.map((file, index) => (
          <li key={index}>
            <span dir="auto">{file.name}</span> <span class="note">{aboutPromptFile(file)}</span>
          </li>
        ))}
      </ul>
    </div>
  );

function filesIn(message: unknown): PromptFile[] {
  const { role, files = [] } = (message ?? {}) as { role?: string; files?: PromptFile[] };
  return role === 'files' ? files : [];
}
