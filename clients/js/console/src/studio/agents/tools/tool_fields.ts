// The fields of the form of a tool, read from its JSON document and written back into it. What the
// form does not know stays as it is. Pure.

/** The JSON document of a tool, which may be unfinished. */
export type ToolDocument = Record<string, unknown>;

/** A parameter of a tool, as its form shows it. */
export interface Parameter {
  name: string;
  /** One of `TYPES`, or what a person has typed that is no type at all. */
  type: string;
  description: string;
  isRequired: boolean;
}

/** The kinds of tools that the form can make. The others are written as JSON. */
export type ToolKind = 'http' | 'compute' | 'static';

export const TYPES: readonly { value: string; text: string }[] = [
  { value: 'string', text: 'Text' },
  { value: 'number', text: 'Number' },
  { value: 'integer', text: 'Whole number' },
  { value: 'boolean', text: 'Yes or no' },
];

// Schemas of these say more than the form can show.
const OTHER_TYPES: readonly unknown[] = ['array', 'object', 'null'];

const SAMPLES: Record<string, unknown> = {
  string: 'text',
  number: 1.5,
  integer: 1,
  boolean: true,
};
const BEARER = /^Bearer \$\{secret\.([A-Za-z0-9_]+)\}$/;

/** The document in a text; null if it is not an object. */
export function documentIn(text: string): ToolDocument | null {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return null;
  }
}

/** How a call is executed. */
export const executionOf = (tool: ToolDocument): ToolDocument => objectOf(tool.execution) ?? {};

/** The kind of a tool; null if the form does not know it. */
export function kindOf(tool: ToolDocument): ToolKind | null {
  const { type } = executionOf(tool);
  return type === 'http' || type === 'compute' || type === 'static' ? type : null;
}

/** The parameters; null if the schema says more than the form can show. */
export function parametersOf({ inputSchema }: ToolDocument): Parameter[] | null {
  if (inputSchema === undefined) return [];
  const schema = objectOf(inputSchema);
  if (!schema) return null;
  const { type, properties, required, additionalProperties, ...others } = schema;
  const fields = objectOf(properties ?? {});
  const isPlain = type === 'object' && typeof (additionalProperties ?? false) === 'boolean';
  if (!isPlain || !fields || Object.keys(others).length > 0) return null;
  const names = Array.isArray(required) ? required : [];
  const found = Object.entries(fields).map(([name, field]) =>
    parameterOf(name, field, names.includes(name)),
  );
  return found.every((each) => each !== null) ? found : null;
}

function parameterOf(name: string, field: unknown, isRequired: boolean): Parameter | null {
  const { type, description = '', ...others } = objectOf(field) ?? {};
  if (typeof type !== 'string' || OTHER_TYPES.includes(type)) return null;
  if (typeof description !== 'string' || Object.keys(others).length > 0) return null;
  return { name, type, description, isRequired };
}

/** Whether the form offers this type. */
export const isType = (type: string): boolean => TYPES.some(({ value }) => value === type);

/** The tool with these parameters. */
export function withParameters(tool: ToolDocument, parameters: readonly Parameter[]): ToolDocument {
  const properties = Object.fromEntries(
    parameters.map(({ name, type, description }) => [
      name,
      { type, ...(description !== '' && { description }) },
    ]),
  );
  const required = parameters.flatMap(({ name, isRequired }) => (isRequired ? [name] : []));
  const inputSchema = {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
  return { ...tool, inputSchema };
}

/** The tool with another value in its execution. Undefined removes it. */
export function withExecution(tool: ToolDocument, change: ToolDocument): ToolDocument {
  const execution = { ...executionOf(tool), ...change };
  const set = Object.entries(execution).filter(([, value]) => value !== undefined);
  return { ...tool, execution: Object.fromEntries(set) };
}

/** The name of the secret that is sent as a bearer token: empty if there is none. */
export function secretOf(tool: ToolDocument): string {
  const { Authorization: value } = objectOf(executionOf(tool).headers) ?? {};
  return (typeof value === 'string' && BEARER.exec(value)?.[1]) || '';
}

/** The tool with this secret as its bearer token, or with none. */
export function withSecret(tool: ToolDocument, name: string): ToolDocument {
  const headers = { ...objectOf(executionOf(tool).headers) };
  if (name === '') delete headers.Authorization;
  else headers.Authorization = `Bearer \${secret.${name}}`;
  return withExecution(tool, { headers: Object.keys(headers).length > 0 ? headers : undefined });
}

/** An input to try a tool with. */
export function sampleOf(tool: ToolDocument): Record<string, unknown> {
  const parameters = parametersOf(tool) ?? [];
  return Object.fromEntries(parameters.map(({ name, type }) => [name, SAMPLES[type] ?? 'text']));
}

const SLOTS: Record<ToolKind, readonly string[]> = {
  http: ['/execution/method', '/execution/url', '/execution/headers/Authorization'],
  compute: ['/execution/expression'],
  static: ['/execution/output'],
};

/** The pointers of the values that have a field in the form. */
export function slotsOf(tool: ToolDocument): readonly string[] {
  const kind = kindOf(tool);
  const parameters = kind && parametersOf(tool) ? ['/inputSchema'] : [];
  return ['/name', '/description', ...(kind ? SLOTS[kind] : []), ...parameters];
}

const NAMES: Record<string, string> = {
  name: 'Name',
  description: 'Description',
  inputSchema: 'Parameters',
  url: 'Address',
  method: 'Method',
  headers: 'Headers',
  output: 'Result',
  expression: 'Expression',
  resultSchema: 'Answer',
};

/** The place of a fault in words: `/0/execution/url` is the address of the first tool. */
export function placeWords(pointer: string, tools: readonly { name: string }[]): string {
  const [index = '', ...names] = pointer.split('/').slice(1);
  const tool = tools[Number(index)]?.name;
  const inside = names.filter((name) => name !== 'execution');
  const last = inside.map((name) => NAMES[name] ?? name).join(' › ');
  const part = last || (names.includes('execution') ? 'What it does' : '');
  return [tool ? `Tool “${tool}”` : '', part].filter((text) => text !== '').join(', ');
}

const objectOf = (value: unknown): ToolDocument | null =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as ToolDocument)
    : null;
