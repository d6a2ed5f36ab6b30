// Shows a text as Markdown: from tokens to nodes, so that no markup of other people gets into the
// page. While a text grows, only its last block is parsed again.

import MarkdownIt from 'markdown-it';
import type { ComponentChildren, JSX } from 'preact';
import { memo } from 'preact/compat';
import { useRef } from 'preact/hooks';
import { CodeBlock } from './code_block.tsx';

type Token = ReturnType<ReturnType<typeof MarkdownIt>['parse']>[number];

// Deeper nesting is shown as text.
const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: 20 } as object);
parser.validateLink = (url) => /^(https?:|mailto:)/i.test(url.trim());

const ELEMENTS = new Set(
  'p h1 h2 h3 h4 h5 h6 blockquote ul ol li strong em s table thead tbody tr th td'.split(' '),
);

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

const Block = memo(({ source }: { source: string }) => <>{nodesOf(parser.parse(source, {}))}</>);

/**
 * The source of each block at the top level. Blocks of `before` that the text still begins with are
 * not parsed again, except the last one.
 */
export function blocksOf(text: string, before: readonly string[]): readonly string[] {
  const finished = before.slice(0, -1);
  let length = 0;
  for (const source of finished) {
    if (!text.startsWith(source, length)) return split(text);
    length += source.length;
  }
  return [...finished, ...split(text.slice(length))];
}

function split(text: string): string[] {
  const lines = text.split(/(?<=\n)/);
  const starts = parser
    .parse(text, {})
    .flatMap(({ level, map, nesting }) => (level === 0 && map && nesting >= 0 ? [map[0]] : []));
  return starts.map((start, index) =>
    lines.slice(index === 0 ? 0 : start, starts[index + 1] ?? lines.length).join(''),
  );
}

// Turns a flat list of tokens, which open and close elements, into nested nodes.
function nodesOf(tokens: readonly Token[]): ComponentChildren[] {
  const stack: { token: Token | null; children: ComponentChildren[] }[] = [
    { token: null, children: [] },
  ];
  const add = (node: ComponentChildren) => stack.at(-1)!.children.push(node);
  for (const token of tokens) {
    if (token.nesting === 1) stack.push({ token, children: [] });
    else if (token.nesting === -1) {
      const { token: opened, children } = stack.pop()!;
      add(opened ? elementOf(opened, children) : children);
    } else add(leafOf(token));
  }
  return stack.flatMap(({ children }) => children);
}

function elementOf(token: Token, children: ComponentChildren[]): ComponentChildren {
  if (token.tag === 'a')
    return (
      <a href={String(token.attrGet('href'))} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    );
  if (token.hidden || !ELEMENTS.has(token.tag)) return children;
  const Tag = token.tag as 'p';
  const start = token.tag === 'ol' ? token.attrGet('start') : null;
  const isRight = String(token.attrGet('style')).includes('right');
  return (
    <Tag {...(start && { start })} {...(isRight && { class: 'right' })}>
      {children}
    </Tag>
  );
}

function leafOf(token: Token): ComponentChildren {
  switch (token.type) {
    case 'inline':
      return nodesOf(token.children ?? []);
    case 'softbreak':
    case 'hardbreak':
      return '\n';
    case 'code_inline':
      return <code>{token.content}</code>;
    case 'fence':
    case 'code_block':
      return <CodeBlock text={token.content} language={token.info.trim().split(/\s/)[0] ?? ''} />;
    case 'hr':
      return <hr />;
    case 'image':
      // Pictures of other sites would tell them who reads.
      return <>[{token.content}]</>;
    default:
      return token.content;
  }
}
