// The shapes of frames: the fields of each kind of object, with their JSON types. Pure.

// What agents, tools and people put in: it has any shape.
const FREE = ['input', 'output', 'resultSchema'];
// Their names are ids.
const MAPS = ['spaces'];

/**
 * The shapes of frames by the kinds of their objects, such as `run.completed.run`. Objects with
 * different `type`s are of different kinds.
 */
export function shapesOf(frames) {
  const shapes = new Map();
  for (const frame of frames) visitObjects(frame, (kind, object) => add(shapes, kind, object));
  return shapes;
}

function add(shapes, kind, object) {
  const shape = shapes.get(kind) ?? { count: 0, fields: new Map() };
  shapes.set(kind, shape);
  shape.count += 1;
  for (const [name, value] of Object.entries(object)) {
    const field = shape.fields.get(name) ?? { count: 0, types: new Set(), sample: value };
    shape.fields.set(name, field);
    field.count += 1;
    field.types.add(typeOf(value));
  }
}

/** Calls `act` with the kind of each object of a frame, the frame first. */
export function visitObjects(frame, act) {
  const visit = (kind, value, name) => {
    if (FREE.includes(name)) return;
    if (Array.isArray(value)) return value.forEach((item) => visit(`${kind}[]`, item));
    if (typeof value !== 'object' || value === null) return;
    const ownKind = name !== undefined && typeof value.type === 'string';
    const isItem = kind.endsWith('[]') && typeof value.type === 'string';
    const found = ownKind || isItem ? `${kind}{${value.type}}` : kind;
    if (!MAPS.includes(name)) act(found, value);
    for (const [inner, each] of Object.entries(value)) visit(`${found}.${inner}`, each, inner);
  };
  visit(frame.type, frame);
}

/** The JSON type of a value. */
export function typeOf(value) {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

/** Whether each recorded object of the kind had the field. */
export const isAlways = (shape, name) => shape.fields.get(name)?.count === shape.count;

/** The fields as lines: `run.completed.readSeq?: number`. */
export const linesOf = (shapes) =>
  [...shapes]
    .flatMap(([kind, shape]) =>
      [...shape.fields].map(([name, { types }]) => {
        const mark = isAlways(shape, name) ? '' : '?';
        return `${kind}.${name}${mark}: ${[...types].sort().join(' | ')}`;
      }),
    )
    .sort();
