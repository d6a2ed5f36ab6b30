// The focus of the message box.

/** Moves the focus there, but not with a finger, where a keyboard would cover the messages. */
export function focusMessageBox(): void {
  if (matchMedia('(hover: hover)').matches)
    document.getElementById('text')?.focus({ preventScroll: true });
}
