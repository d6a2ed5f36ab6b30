// The words of a Markdown text, for a line that shows how it begins.

import type { MarkedToken, Token, Tokens } from 'marked';
import { decoded, parse } from './parse.ts';

/** The server cuts no text before so many characters. */
const SHORTEST_CUT = 80;
const CUT_LINK = /\[([^\][]*)\]\([^)\s]*$/;
const CUT_MARKS = /(^|[\s([{"'“‘])(?:\*{1,3}|_{2,3}|~{1,2}|`+)(?=\S|$)/g;

/** The words of a text without its marks, also without those whose end may have been cut off. */
export function plainWords(text: string): string {
  const source = text.replace(/\r\n?/g, '\n');
  if (text.length < SHORTEST_CUT) return blocks(parse(source), decoded);
  const ofText = (raw: string) => decoded(raw).replace(CUT_MARKS, '$1');
  return blocks(parse(source.replace(CUT_LINK, '$1')), ofText);
}

/** What a piece of text without marks says. */
type OfText = (raw: string) => string;

const blocks = (tokens: readonly Token[], ofText: OfText): string =>
  tokens.map((token) => words(token as MarkedToken, ofText)).join(' ');

const line = (tokens: readonly Token[], ofText: OfText): string =>
  tokens.map((token) => words(token as MarkedToken, ofText)).join('');

function words(token: MarkedToken, ofText: OfText): string {
  switch (token.type) {
    case 'blockquote':
      return blocks(token.tokens, ofText);
    case 'list':
      return token.items
        .map((item, index) => `${bullet(token, index)} ${words(item, ofText)}`)
        .join(' ');
    case 'list_item':
      return blocks(token.tokens, ofText);
    case 'checkbox':
      return token.checked ? '☑' : '☐';
    case 'table':
      return [token.header, ...token.rows]
        .map((cells) => cells.map(({ tokens }) => line(tokens, ofText)).join(', '))
        .join('; ');
    case 'code':
    case 'codespan':
    case 'escape':
      return token.text;
    case 'hr':
    case 'space':
      return '';
    case 'br':
      return ' ';
    case 'image':
      return `[${decoded(token.text)}]`;
    case 'text':
      return token.tokens ? line(token.tokens, ofText) : ofText(token.raw);
    default:
      return 'tokens' in token && token.tokens ? line(token.tokens, ofText) : token.raw;
  }
}

const bullet = ({ ordered, start }: Tokens.List, index: number) =>
  ordered ? `${Number(start) + index}.` : '•';
