// Makes the editors of a configuration follow the server.

import { fieldsOf, type Control } from '../../save_form/body.ts';

/** Lets each field in this element show the stored value, except the `unsaved` ones. */
export function showSaved(element: HTMLElement, unsaved: ReadonlySet<Control>): void {
  for (const control of fieldsOf(element)) {
    if (unsaved.has(control)) continue;
    if (control instanceof HTMLSelectElement) {
      const isOther = control.value !== control.dataset.first;
      control.value = control.dataset.first ?? '';
      // A choice may decide which other fields there are.
      if (isOther) control.dispatchEvent(new Event('change', { bubbles: true }));
    } else if (control instanceof HTMLTextAreaElement) control.value = control.defaultValue;
    else if (control instanceof HTMLInputElement) {
      control.value = control.defaultValue;
      control.checked = control.defaultChecked;
    }
  }
}
