// An agent as a file of a project, without what is so by default. Pure.

import { isEqual, isObject } from '../../../forms/schema/json.ts';
import type { AgentEntity } from '../agent_tab.ts';

/** The part of `/openapi.json` that describes a configuration. */
export interface Description {
  components: { schemas: Record<string, Schema> };
}

interface Schema {
  $ref?: string;
  type?: unknown;
  default?: unknown;
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

export interface AgentFile {
  /** The name of the file: the agent's external id, if it can be one. */
  name: string;
  /** JSON, as the folder `agents` of a project takes it. */
  text: string;
}

const FILE_NAME = /^[a-z\d][\w.-]{0,127}$/i;
const LONGEST_SLUG = 100;

export function agentFile(agent: AgentEntity, description: Description): AgentFile {
  const { id, name, externalId } = agent;
  const stem = externalId !== null && FILE_NAME.test(externalId) ? externalId : slugOf(name);
  const file = {
    // Otherwise the file would be another agent.
    ...(externalId === null ? { id } : externalId !== stem && { externalId }),
    name,
    ...(withoutDefaults(agent.agent, 'AgentConfig', description) as object),
  };
  return { name: `${stem}.json`, text: `${JSON.stringify(escaped(file), null, 2)}\n` };
}

function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z\d]+/g) ?? ['agent'];
  return words.join('-').slice(0, LONGEST_SLUG);
}

// In files `${var.NAME}` is a variable, and `$${` stands for `${`.
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\$\{(?=var\.)|(?<=\$)\$\{/g, '$$$${');
  if (Array.isArray(value)) return value.map(escaped);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, escaped(each)]));
}

/** A value of a described type, without the fields that have their defaults. */
export function withoutDefaults(value: unknown, type: string, description: Description): unknown {
  const { schemas } = description.components;
  const resolved = (schema: Schema): Schema => {
    const { $ref, oneOf, ...own } = schema;
    const target = schemas[$ref?.split('/').at(-1) ?? ''];
    if (target) return { ...resolved(target), ...own };
    const [other, ...more] = (oneOf ?? []).filter((each) => each.type !== 'null');
    // Of the shapes of a union it is not known which one the value has.
    if (!other || more.length > 0) return own;
    // Null is its default, and an empty value another one.
    return { ...resolved(other), ...own, type: null };
  };
  const trimmed = (given: unknown, schema: Schema): unknown => {
    const { items, properties, required } = schema;
    if (Array.isArray(given) && items) return given.map((each) => trimmed(each, resolved(items)));
    if (!isObject(given) || !properties) return given;
    const fields = Object.entries(given).map(([name, each]) => {
      const field = resolved(properties[name] ?? {});
      return { name, field, each: trimmed(each, field) };
    });
    const isKept = ({ name, field, each }: (typeof fields)[number]) =>
      required?.includes(name) || !(isDefault(given[name], field) || isDefault(each, field));
    return Object.fromEntries(fields.filter(isKept).map(({ name, each }) => [name, each]));
  };
  return trimmed(value, resolved({ $ref: type }));
}

function isDefault(value: unknown, schema: Schema): boolean {
  if (value === null || isEqual(value, schema.default)) return true;
  // The description names no default that is empty.
  if (Array.isArray(value)) return value.length === 0 && schema.type === 'array';
  return isObject(value) && Object.keys(value).length === 0 && schema.type === 'object';
}
