// Turns the fields of a form into the body of a request. The name of a field is the JSON pointer of
// its value in the body.

/** A field, or another control of a form. */
export type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** The body, or why a field can't be read, by the field's pointer. */
export interface FormBody {
  body: Record<string, unknown>;
  faults: ReadonlyMap<string, string>;
}

/**
 * The values of the form. For a patch (RFC 7386) these are the changed ones, and an empty optional
 * field is null; otherwise an empty optional field is left out.
 */
export function bodyOf(form: HTMLFormElement, isPatch: boolean): FormBody {
  const body = {};
  const faults = new Map<string, string>();
  for (const control of fieldsOf(form)) {
    if (control.disabled || (isPatch && !isChanged(control))) continue;
    if (isRadio(control) && !control.checked) continue;
    try {
      const value = valueOf(control);
      if (value !== undefined || isPatch) put(body, control.name, value ?? null);
    } catch (error) {
      faults.set(control.name, error instanceof Error ? error.message : String(error));
    }
  }
  return { body, faults };
}

/** The fields in a part of the page. */
export const fieldsOf = (place: Element): Control[] => [
  ...place.querySelectorAll<Control>('[name^="/"]'),
];

/** The fields that differ from their first values. */
export const changedIn = (place: Element): Control[] => fieldsOf(place).filter(isChanged);

/** Whether any field differs from its first value. */
export const hasChanges = (place: Element): boolean => changedIn(place).length > 0;

/** The states of the controls of a form: a value, or whether it is checked. */
export type Shown = ReadonlyMap<Control, string | boolean>;

/** The present states of the controls. */
export const shownIn = (form: HTMLFormElement): Shown =>
  new Map(
    [...form.querySelectorAll<Control>('input, textarea, select')].map((control) => [
      control,
      stateOf(control),
    ]),
  );

/**
 * Makes the saved values the first values of their fields. These count as unchanged and follow the
 * server from now on. Text that was typed after the form was `sent` stays.
 */
export function settle(form: HTMLFormElement, sent: Shown): void {
  const now = shownIn(form);
  for (const [control, state] of sent) {
    if (control instanceof HTMLSelectElement) control.dataset.first = String(state);
    else if (isCheck(control)) control.defaultChecked = state === true;
    else control.defaultValue = String(state);
  }
  // Only this lets a field that was typed into show a new first value.
  form.reset();
  for (const [control, state] of now) {
    if (stateOf(control) === state) continue;
    if (isCheck(control)) control.checked = state === true;
    else control.value = String(state);
  }
}

const stateOf = (control: Control): string | boolean =>
  isCheck(control) ? control.checked : control.value;

const isCheck = (control: Control): control is HTMLInputElement & { type: 'checkbox' | 'radio' } =>
  control.type === 'checkbox' || isRadio(control);

const isRadio = (control: Control): control is HTMLInputElement => control.type === 'radio';

function isChanged(control: Control): boolean {
  if (control instanceof HTMLSelectElement) return control.value !== control.dataset.first;
  if (isCheck(control)) return control.checked !== control.defaultChecked;
  // A browser changes the line breaks of a value, but not those of its default.
  const first =
    control instanceof HTMLTextAreaElement
      ? control.defaultValue.replace(/\r\n?/g, '\n')
      : control.defaultValue.replace(/[\r\n]/g, '');
  return control.value !== first;
}

function valueOf(control: Control): unknown {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') return control.checked;
  const { kind } = control.dataset;
  const text = kind === 'plain' ? control.value : control.value.trim();
  if (text === '') return kind === 'plain' || control.required ? text : undefined;
  if (kind === 'json') return parsed(text);
  if (kind !== 'number') return text;
  const number = Number(text);
  if (Number.isNaN(number)) throw new Error('Write a number.');
  return number;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`);
  }
}

function put(body: Record<string, unknown>, pointer: string, value: unknown): void {
  const names = pointer.slice(1).split('/').map(unescaped);
  const last = names.at(-1) ?? '';
  let place = body;
  for (const name of names.slice(0, -1)) place = (place[name] ??= {}) as Record<string, unknown>;
  place[last] = value;
}

const unescaped = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~');
