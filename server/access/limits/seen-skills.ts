import { DAY_SLACK, dayOf, dayStart } from './windows.ts'

/** The skills returned to a key since midnight: their ids in order of arrival, and an index into that list. */
export class SeenSkills {
  day: number
  count = 0
  #ids = new Int32Array(64)
  /** Places in the list plus one; 0 is a free place. At most half full. */
  #index = new Int32Array(128)

  constructor(day = 0) {
    this.day = day
  }

  /** Moves on to the day of `now`; a clock that ran back over midnight stays in the later day for a while. */
  settle(now: number): void {
    const today = dayOf(now)
    if (today > this.day) {
      this.day = today
      this.#clear()
    } else if (dayStart(this.day) - now > DAY_SLACK) this.day = today
  }

  has(id: number): boolean {
    return this.#index[this.#place(id)] !== 0
  }

  add(id: number): void {
    if (this.has(id)) return
    if (this.count === this.#ids.length) this.#grow()
    const place = this.#place(id)
    this.#ids[this.count++] = id
    this.#index[place] = this.count
  }

  slice(from: number, to: number): number[] {
    return Array.from(this.#ids.subarray(from, Math.min(to, this.count)))
  }

  #place(id: number): number {
    const index = this.#index
    const mask = index.length - 1
    let place = (Math.imul(id, 0x9e3779b1) >>> 7) & mask
    while (index[place] !== 0 && this.#ids[index[place]! - 1] !== id) place = (place + 1) & mask
    return place
  }

  #clear(): void {
    this.count = 0
    this.#ids = new Int32Array(64)
    this.#index = new Int32Array(128)
  }

  #grow(): void {
    const ids = new Int32Array(this.#ids.length * 2)
    ids.set(this.#ids)
    this.#ids = ids
    this.#index = new Int32Array(ids.length * 2)
    for (let i = 0; i < this.count; i++) this.#index[this.#place(ids[i]!)] = i + 1
  }
}
