// The fields of both editors of a configuration, in the page.

import { hasChanges } from '../ui/body.ts';

/** Whether a field of the form in this element was changed and not saved. */
export function hasUnsaved(element: HTMLElement): boolean {
  const form = element.querySelector('form');
  return form !== null && hasChanges(form);
}

/** Lets each field in this element show the stored value again. */
export function showSaved(element: HTMLElement): void {
  for (const control of element.querySelectorAll<HTMLElement>('[name^="/"]')) {
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
