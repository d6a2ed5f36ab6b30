// The order of the loads of one answer or list.

/**
 * Delays a load until the one under way has ended. Otherwise each load would abort the one before,
 * and a slow list that changes all the time would never be loaded.
 */
export class NextLoad {
  /** Whether a load is under way. */
  isBusy = false;
  private waiting: (() => void) | null = null;

  /** Calls `load` now, or when the load under way has ended. */
  load(load: () => void): void {
    if (this.isBusy) this.waiting = load;
    else load();
  }

  /** A load has begun. */
  begin(): void {
    this.isBusy = true;
  }

  /** The load has ended. */
  end(): void {
    const { waiting } = this;
    this.forget();
    waiting?.();
  }

  /** Drops the load that waits. */
  forget(): void {
    this.isBusy = false;
    this.waiting = null;
  }
}
