/** The deliveries to read: `recent` for events sequenced just now, which is a cheap query, or `any`. */
export type ReadScope = 'recent' | 'any'

/** The window is the maximum number of attempts in flight to one endpoint. It shrinks to its minimum while all attempts fail. */
export const INITIAL_WINDOW = 16
export const MAX_WINDOW = 64
export const MIN_WINDOW = 4
/** Maximum number of deliveries of an endpoint in memory: buffered, in flight, or not recorded yet. */
export const MAX_UNFINISHED_DELIVERIES = 512
export const MAX_READ_BATCH_DELIVERIES = 128
/** A read takes longer than an attempt, so that few deliveries per read would cost more than sending them. */
export const MIN_READ_BATCH_DELIVERIES = 32
/** Older buffered deliveries are read again before they are sent, because they may have been acknowledged by pull in the meantime. */
export const MAX_BUFFERED_MS = 3000

/**
 * The deliveries of one endpoint that this process has read and not finished. Decides when to read more and which delivery to send next.
 * Performs no I/O and reads no clock: the caller reads, sends and records, and reports each result here.
 *
 * A delivery is buffered (read), then in flight (returned by `next`), then attempted but not recorded, then finished.
 */
export class DeliveryQueue<Delivery extends { event_id: string }> {
  #buffer: { delivery: Delivery; readAt: number }[] = []
  readonly #unfinishedIds = new Set<string>()
  #inFlight = 0
  #window = INITIAL_WINDOW
  #failuresInARow = 0
  #requestedRead: ReadScope | undefined = 'any'
  #currentRead: ReadScope | undefined
  #discardCurrentRead = false
  #suspended = false

  /** Requests a read, as deliveries may be due. `any` includes `recent`. */
  requestRead(scope: ReadScope): void {
    if (this.#requestedRead !== 'any') this.#requestedRead = scope
  }

  /** Starts the requested read if there is room for its result. The caller then calls `finishRead` or `failRead`. */
  startRead(): ReadScope | undefined {
    const hasRoom = this.#buffer.length <= this.#window / 2 && this.#unfinishedIds.size < MAX_UNFINISHED_DELIVERIES
    if (this.#suspended || this.#currentRead !== undefined || !hasRoom) return undefined
    this.#currentRead = this.#requestedRead
    this.#requestedRead = undefined
    this.#discardCurrentRead = false
    return this.#currentRead
  }

  /** Adds the deliveries of a read, which must have left out `unfinishedIds`. If the read reached its limit, requests another one. */
  finishRead(deliveries: Delivery[], limit: number, now: number): void {
    if (deliveries.length === limit) this.requestRead(this.#currentRead!)
    this.#currentRead = undefined
    if (this.#discardCurrentRead) return
    for (const delivery of deliveries) {
      this.#unfinishedIds.add(delivery.event_id)
      this.#buffer.push({ delivery, readAt: now })
    }
  }

  /** Ends a read that failed. The caller requests another one after a delay. */
  failRead(): void {
    this.#currentRead = undefined
  }

  /** Returns the next delivery to send, if the window has room. The caller then calls `finishAttempt` and `finishDelivery`. */
  next(now: number): Delivery | undefined {
    this.#dropOutdated(now)
    if (this.#inFlight >= this.#window) return undefined
    const entry = this.#buffer.shift()
    if (entry) this.#inFlight++
    return entry?.delivery
  }

  /** Frees the attempt's slot. Widens the window on success; halves it when as many attempts in a row fail as fit in it. */
  finishAttempt(delivered: boolean): void {
    this.#inFlight--
    if (delivered) {
      this.#failuresInARow = 0
      this.#window = Math.min(MAX_WINDOW, this.#window + 1)
    } else if (++this.#failuresInARow >= this.#window) {
      this.#failuresInARow = 0
      this.#window = Math.max(MIN_WINDOW, Math.floor(this.#window / 2))
    }
  }

  /** Removes a delivery whose attempt is recorded; a later read may return it again. */
  finishDelivery(eventId: string): void {
    this.#unfinishedIds.delete(eventId)
  }

  /** Drops the deliveries that are not in flight, and the result of the current read, and requests a new read. */
  restart(): void {
    this.#dropBuffer()
    this.#discardCurrentRead = true
    this.requestRead('any')
  }

  /** Stops reading and returns no delivery from `next` until `resume`. Attempts in flight continue. */
  suspend(): void {
    this.#suspended = true
    this.restart()
  }

  resume(): void {
    this.#suspended = false
    this.restart()
  }

  /** Resets the window to its initial size, for an endpoint with a new URL. */
  resetWindow(): void {
    this.#window = INITIAL_WINDOW
  }

  /** IDs of deliveries that are buffered, in flight or not recorded yet. A read must leave them out. */
  get unfinishedIds(): ReadonlySet<string> {
    return this.#unfinishedIds
  }

  get readLimit(): number {
    return Math.min(MAX_READ_BATCH_DELIVERIES, Math.max(MIN_READ_BATCH_DELIVERIES, 2 * this.#window))
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get window(): number {
    return this.#window
  }

  get isIdle(): boolean {
    const willRead = !this.#suspended && this.#requestedRead !== undefined
    return this.#currentRead === undefined && this.#unfinishedIds.size === 0 && !willRead
  }

  #dropOutdated(now: number): void {
    const oldestEntry = this.#buffer[0]
    if (!oldestEntry || now - oldestEntry.readAt <= MAX_BUFFERED_MS) return
    this.#dropBuffer()
    this.requestRead('any')
  }

  #dropBuffer(): void {
    for (const { delivery } of this.#buffer) this.#unfinishedIds.delete(delivery.event_id)
    this.#buffer = []
  }
}
