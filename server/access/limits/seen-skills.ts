import { indianDayNumber, indianDayStart } from '../../platform/india-time.ts'
import { DAY_SLACK_MS } from './windows.ts'

/** The skills returned to a key since midnight: their IDs in insertion order, and a hash index into that list. */
export class SeenSkills {
  day: number
  count = 0
  #ids = new Int32Array(64)
  /** Open-addressing hash table of positions in `#ids` plus one; 0 marks an empty slot. At most half full. */
  #index = new Int32Array(128)

  constructor(day = 0) {
    this.day = day
  }

  /** Starts a new day if midnight has passed. If the clock was set back slightly over midnight, the later day continues. */
  advanceTo(now: number): void {
    const today = indianDayNumber(now)
    if (today > this.day) {
      this.day = today
      this.#clear()
    } else if (indianDayStart(this.day) - now > DAY_SLACK_MS) this.day = today
  }

  has(id: number): boolean {
    return this.#index[this.#slot(id)] !== 0
  }

  add(id: number): void {
    if (this.has(id)) return
    if (this.count === this.#ids.length) this.#grow()
    const slot = this.#slot(id)
    this.#ids[this.count++] = id
    this.#index[slot] = this.count
  }

  slice(from: number, to: number): number[] {
    return Array.from(this.#ids.subarray(from, Math.min(to, this.count)))
  }

  #slot(id: number): number {
    const index = this.#index
    const mask = index.length - 1
    let slot = (Math.imul(id, 0x9e3779b1) >>> 7) & mask
    while (index[slot] !== 0 && this.#ids[index[slot]! - 1] !== id) slot = (slot + 1) & mask
    return slot
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
    for (let i = 0; i < this.count; i++) this.#index[this.#slot(ids[i]!)] = i + 1
  }
}
