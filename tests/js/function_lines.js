// A rule: a function has at most 60 lines, and a component at most 120. A component is a function
// of a .tsx file whose name begins with a capital letter. Hooks and helpers are functions.

const MOST = { component: 120, function: 60 };

export const functionLines = {
  meta: {
    type: 'suggestion',
    messages: { long: 'The {{kind}} {{name}} has {{lines}} lines, expected at most {{most}}.' },
    schema: [],
  },
  create(context) {
    const inTsx = context.filename.endsWith('.tsx');
    const check = (node) => {
      const name = nameOf(node);
      const kind = inTsx && /^[A-Z]/.test(name) ? 'component' : 'function';
      const lines = node.loc.end.line - node.loc.start.line + 1;
      const data = { kind, name, lines, most: MOST[kind] };
      if (lines > MOST[kind]) context.report({ node, messageId: 'long', data });
    };
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
    };
  },
};

/** The function's own name, or that of the variable or property that holds it. */
function nameOf({ id, parent }) {
  const named = id ?? (parent.type === 'VariableDeclarator' ? parent.id : parent.key);
  return named?.name ?? 'without a name';
}
