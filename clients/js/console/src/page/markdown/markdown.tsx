// Shows a text as Markdown: from tokens to nodes, so that no markup of other people gets into the
// page. While a text grows, only its last blocks are parsed again.

import type { MarkedToken, Token, Tokens } from 'marked';
import type { ComponentChildren, JSX } from 'preact';
import { memo } from 'preact/compat';
import { useRef } from 'preact/hooks';
import { visible } from '../../ui/visible.ts';
import { CodeBlock } from './code_block.tsx';
import { BoundedLexer } from './lexer.ts';

export interface MarkdownProps {
  text: string;
  /** Whether the text still grows. */
  streaming?: boolean;
}

/** Shows a text. */
export const Markdown = memo(function Markdown({ text }: MarkdownProps): JSX.Element {
  const before = useRef<readonly string[]>([]);
  before.current = blocksOf(text, before.current);
  return (
    <div class="text" dir="auto">
      {before.current.map((source, index) => (
        <Block key={index} source={source} />
      ))}
    </div>
  );
});

const Block = memo(({ source }: { source: string }) => <>{nodesOf(parse(source))}</>);

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

// The lines themselves are not parsed here.
function blockTokensOf(source: string): Token[] {
  return orText(source, () => new BoundedLexer(source).blockTokens(source));
}

function parse(source: string): Token[] {
  return orText(source, () => {
    const reader = new BoundedLexer(source);
    const tokens = reader.blockTokens(source);
    // The page keeps spaces, Markdown drops those at the start of a line.
    for (const { src, tokens } of reader.inlineQueue)
      reader.inlineTokens(src.replace(/\n[ \t]+/g, '\n'), tokens);
    return tokens;
  });
}

// A text that takes too many steps shows as plain text. So does one of megabytes, which can be too
// much for the parser.
function orText(source: string, read: () => Token[]): Token[] {
  try {
    return read();
  } catch {
    return [{ type: 'escape', raw: source, text: source }];
  }
}

function nodesOf(tokens: readonly Token[] = []): ComponentChildren[] {
  return (tokens as readonly MarkedToken[]).map(nodeOf);
}

function nodeOf(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'paragraph':
      return <p>{nodesOf(token.tokens)}</p>;
    case 'heading': {
      const Tag = `h${token.depth}` as 'h1';
      return <Tag>{nodesOf(token.tokens)}</Tag>;
    }
    case 'blockquote':
      return <blockquote>{nodesOf(token.tokens)}</blockquote>;
    case 'list':
      return listOf(token);
    case 'list_item':
      return <li>{nodesOf(token.tokens)}</li>;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'table':
      return tableOf(token);
    case 'code':
      return <CodeBlock text={token.text} language={languageOf(token)} />;
    case 'hr':
      return <hr />;
    case 'strong':
      return <strong>{nodesOf(token.tokens)}</strong>;
    case 'em':
      return <em>{nodesOf(token.tokens)}</em>;
    case 'del':
      return <s>{nodesOf(token.tokens)}</s>;
    case 'codespan':
      return <code>{visible(token.text)}</code>;
    case 'br':
      return '\n';
    case 'link':
      return linkOf(token);
    case 'image':
      // Loading a picture would reveal the reader to another site.
      return `[${decoded(token.text)}]`;
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens ? nodesOf(token.tokens) : decoded(token.raw);
    case 'space':
      return null;
    default:
      return token.raw;
  }
}

function listOf({ ordered, start, items }: Tokens.List): JSX.Element {
  const children = nodesOf(items);
  if (!ordered) return <ul>{children}</ul>;
  return <ol {...(start !== 1 && { start: Number(start) })}>{children}</ol>;
}

function tableOf({ header, rows }: Tokens.Table): JSX.Element {
  return (
    <table>
      <thead>{rowOf(header)}</thead>
      {rows.length > 0 && <tbody>{rows.map(rowOf)}</tbody>}
    </table>
  );
}

function rowOf(cells: readonly Tokens.TableCell[]): JSX.Element {
  return (
    <tr>
      {cells.map(({ header, align, tokens }) => {
        const Tag = header ? 'th' : 'td';
        return <Tag {...(align === 'right' && { class: 'right' })}>{nodesOf(tokens)}</Tag>;
      })}
    </tr>
  );
}

function linkOf({ href, tokens }: Tokens.Link): ComponentChildren {
  const address = safeAddress(decoded(href));
  if (address === null) return nodesOf(tokens);
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {nodesOf(tokens)}
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

// `&lt;` is `<`. The browser knows all names; only a name gets to it, never markup.
function decoded(text: string): string {
  return text.replace(/&(?:#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]{1,31});/gi, (reference) => {
    const area = document.createElement('textarea');
    area.innerHTML = reference;
    // Browsers also read the start of a name, as in `&notes;`. Markdown does not.
    return area.value.length > 2 ? reference : area.value;
  });
}
