// A form with fields of every kind, for the tests of the parts and of the page.

export const ORDER_SCHEMA = {
  type: 'object',
  required: ['name', 'size', 'amount', 'agreed'],
  properties: {
    name: { type: 'string', title: 'Name', description: 'As on the invoice.' },
    size: { enum: ['Small', 'Large'], title: 'Size' },
    amount: { type: 'integer', title: 'Amount', minimum: 1 },
    day: { type: 'string', format: 'date', title: 'Day' },
    gift: { type: 'boolean', title: 'A gift' },
    country: { enum: ['Norway', 'Jordan'], title: 'Country' },
    extras: {
      type: 'array',
      title: 'Extras',
      items: { enum: ['Ribbon', 'Card'] },
    },
    tags: { type: 'array', title: 'Tags', items: { type: 'string' } },
    place: {
      type: 'object',
      title: 'Place',
      required: ['street'],
      properties: { street: { type: 'string', title: 'Street' } },
    },
    rest: { title: 'The rest', type: 'array', items: { type: 'object' } },
    agreed: { const: true, title: 'I agree' },
  },
};

/** The answer that the tests type. */
export const ORDER_ANSWER = {
  name: 'Nora',
  size: 'Large',
  amount: 3,
  day: '2026-05-17',
  gift: true,
  country: 'Jordan',
  extras: ['Card'],
  tags: ['one', 'two'],
  place: { street: 'Quay 1' },
  rest: [{ a: 1 }],
  agreed: true,
};
