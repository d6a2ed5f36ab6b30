// Turns the fields of a form into the body of a request. The name of a field is the JSON pointer of
// its value in the body.

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

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
  for (const control of form.querySelectorAll<Control>('[name^="/"]')) {
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

/** Whether any field differs from what it showed at first. */
export const hasChanges = (form: HTMLFormElement): boolean =>
  [...form.querySelectorAll<Control>('[name^="/"]')].some(isChanged);

const isRadio = (control: Control): control is HTMLInputElement => control.type === 'radio';

function isChanged(control: Control): boolean {
  if (control instanceof HTMLSelectElement) return control.value !== control.dataset.first;
  if (control instanceof HTMLInputElement && (control.type === 'checkbox' || isRadio(control)))
    return control.checked !== control.defaultChecked;
  return control.value !== control.defaultValue;
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
  const last = names.pop()!;
  let place = body;
  for (const name of names) place = (place[name] ??= {}) as Record<string, unknown>;
  place[last] = value;
}

const unescaped = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~');
