// The tool calls that cards show.

import type { ToolPart } from '@smartspace/client';

/** The input of a tool call while it still streams. */
export interface StreamedTool {
  type: 'tool';
  name: string;
  status: 'writing';
  /** The text so far. */
  raw: string;
}

/** A tool call, or its input while that still streams. */
export type CardPart = ToolPart | StreamedTool;
