// Shows a text as Markdown: from tokens to nodes, so that no markup of other people gets into the
// page. While a text grows, only its last blocks are parsed again.

import type { MarkedToken, Token, Tokens } from 'marked';
import type { ComponentChildren, JSX } from 'preact';
import { memo } from 'preact/compat';
import { useMemo, useRef } from 'preact/hooks';
import { visible } from '../ui/visible.ts';
import { CodeBlock } from './code_block.tsx';
import { markedText, NO_MARKS, type Mark, type MarkedText } from './marks.ts';
import { blockTokensOf, decoded, parse } from './parse.ts';

export interface MarkdownProps {
  text: string;
  /** The mentions in it. */
  marks?: readonly Mark[];
  /** Whether the text still grows. */
  streaming?: boolean;
}

/** Shows a text. */
export const Markdown = memo(function Markdown({
  text,
  marks = NO_MARKS,
}: MarkdownProps): JSX.Element {
  const before = useRef<readonly string[]>([]);
  const marked = useMemo(() => markedText(text, marks), [text, marks]);
  before.current = blocksOf(marked.source, before.current);
  return (
    <div class="text" dir="auto">
      {before.current.map((source, index) => (
        <Block key={index} source={source} marked={marks.length > 0 ? marked : PLAIN} />
      ))}
    </div>
  );
});

// Always the same object, so that finished blocks of a growing text are not drawn again.
const PLAIN = markedText('', NO_MARKS);

interface BlockProps {
  source: string;
  marked: MarkedText;
}

const Block = memo(({ source, marked }: BlockProps) => <>{nodesOf(parse(source), marked)}</>);

/**
 * The source of each block at the top level, with "\n" as line breaks. Blocks of `before` that the
 * text still begins with are not parsed again, except the last ones.
 */
export function blocksOf(text: string, before: readonly string[]): readonly string[] {
  const source = text.replace(/\r\n?/g, '\n');
  const finished = finishedOf(before);
  const start = finished.join('');
  if (!source.startsWith(start)) return split(source);
  return [...finished, ...split(source.slice(start.length))];
}

// A block is finished when two whole lines follow it. Until then it may still take them: `#`
// becomes `#tag`, and the second line of a table makes the first one its head.
function finishedOf(blocks: readonly string[]): readonly string[] {
  let count = blocks.length;
  for (let lines = 0; count > 0 && lines < 2; count -= 1)
    lines += (blocks[count - 1] ?? '').split('\n').length - 1;
  return blocks.slice(0, count);
}

// Empty lines belong to the block before them, or to the first one.
function split(source: string): string[] {
  const starts: number[] = [];
  let end = 0;
  for (const { type, raw } of blockTokensOf(source)) {
    if (type !== 'space') starts.push(end);
    end += raw.length;
  }
  return starts.map((start, index) => source.slice(index === 0 ? 0 : start, starts[index + 1]));
}

function nodesOf(tokens: readonly Token[] = [], marked: MarkedText): ComponentChildren[] {
  return (tokens as readonly MarkedToken[]).map((token) => nodeOf(token, marked));
}

function nodeOf(token: MarkedToken, marked: MarkedText): ComponentChildren {
  switch (token.type) {
    case 'paragraph':
      return <p>{nodesOf(token.tokens, marked)}</p>;
    case 'heading': {
      const Tag = `h${token.depth}` as 'h1';
      return <Tag>{nodesOf(token.tokens, marked)}</Tag>;
    }
    case 'blockquote':
      return <blockquote>{nodesOf(token.tokens, marked)}</blockquote>;
    case 'list':
      return listOf(token, marked);
    case 'list_item':
      return <li>{nodesOf(token.tokens, marked)}</li>;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'table':
      return tableOf(token, marked);
    case 'code':
      return <CodeBlock text={marked.written(token.text)} language={languageOf(token)} />;
    case 'hr':
      return <hr />;
    case 'strong':
      return <strong>{nodesOf(token.tokens, marked)}</strong>;
    case 'em':
      return <em>{nodesOf(token.tokens, marked)}</em>;
    case 'del':
      return <s>{nodesOf(token.tokens, marked)}</s>;
    case 'codespan':
      return <code>{visible(marked.written(token.text))}</code>;
    case 'br':
      return '\n';
    case 'link':
      return linkOf(token, marked);
    case 'image':
      // Loading a picture would reveal the reader to another site.
      return `[${marked.written(decoded(token.text))}]`;
    case 'escape':
      return wordsOf(token.text, marked);
    case 'text':
      return token.tokens ? nodesOf(token.tokens, marked) : wordsOf(decoded(token.raw), marked);
    case 'space':
      return null;
    default:
      return wordsOf(token.raw, marked);
  }
}

// Words, and the mentions between them.
function wordsOf(text: string, marked: MarkedText): ComponentChildren {
  const pieces = marked.pieces(text);
  if (pieces.length === 1 && typeof pieces[0] === 'string') return pieces[0];
  return pieces.map((piece) =>
    typeof piece === 'string' ? (
      piece
    ) : (
      <span class={piece.isOwn ? 'mention own' : 'mention'}>{piece.text}</span>
    ),
  );
}

function listOf({ ordered, start, items }: Tokens.List, marked: MarkedText): JSX.Element {
  const children = nodesOf(items, marked);
  if (!ordered) return <ul>{children}</ul>;
  return <ol {...(start !== 1 && { start: Number(start) })}>{children}</ol>;
}

function tableOf({ header, rows }: Tokens.Table, marked: MarkedText): JSX.Element {
  return (
    <table>
      <thead>{rowOf(header, marked)}</thead>
      {rows.length > 0 && <tbody>{rows.map((row) => rowOf(row, marked))}</tbody>}
    </table>
  );
}

function rowOf(cells: readonly Tokens.TableCell[], marked: MarkedText): JSX.Element {
  return (
    <tr>
      {cells.map(({ header, align, tokens }) => {
        const Tag = header ? 'th' : 'td';
        return <Tag {...(align === 'right' && { class: 'right' })}>{nodesOf(tokens, marked)}</Tag>;
      })}
    </tr>
  );
}

function linkOf({ href, tokens }: Tokens.Link, marked: MarkedText): ComponentChildren {
  const address = safeAddress(marked.written(decoded(href)));
  if (address === null) return nodesOf(tokens, marked);
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {nodesOf(tokens, marked)}
    </a>
  );
}

// The address as the browser parses it, so that the checked address is the used one.
function safeAddress(text: string): string | null {
  try {
    const { href, protocol } = new URL(text.trim());
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : null;
  } catch {
    return null;
  }
}

function languageOf({ lang = '' }: Tokens.Code): string {
  return decoded(lang).trim().split(/\s/)[0] ?? '';
}
