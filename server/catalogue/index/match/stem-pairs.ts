import { Growing } from '../labels/labels.ts'

const SLOTS = 8192
const MOST_IN_A_GAP = 32

/** The words that stand in the same gap of a skill's labels, one skill after another in the same arrays. */
export class Gaps {
  private readonly keys = new Int32Array(SLOTS)
  private readonly rounds = new Int32Array(SLOTS)
  private readonly heads = new Int32Array(SLOTS)
  private readonly stems: number[] = []
  private readonly next: number[] = []
  private readonly met: number[] = []
  private round = 0
  private used = 0

  /** Forgets the skill before. */
  begin(): void {
    this.round++
    this.used = 0
    this.stems.length = 0
    this.next.length = 0
  }

  /** Puts a stem into a gap and tells the others in it, none where it was there already. */
  fill(key: number, stem: number): readonly number[] {
    const { keys, rounds, heads, stems, next, met, round } = this
    met.length = 0
    let slot = (key ^ (key >>> 15)) & (SLOTS - 1)
    while (rounds[slot] === round && keys[slot] !== key) slot = (slot + 1) & (SLOTS - 1)
    const known = rounds[slot] === round
    // A skill with thousands of labels has taught enough.
    if (!known && this.used >= SLOTS / 2) return met
    if (!known) this.used++
    for (let at = known ? heads[slot]! : -1; at >= 0; at = next[at]!) {
      // A gap that so many words fill is no sign that two of them mean the same, and all pairs of thousands would take minutes.
      if (met.length === MOST_IN_A_GAP) {
        met.length = 0
        return met
      }
      if (stems[at] === stem) {
        met.length = 0
        return met
      }
      met.push(stems[at]!)
    }
    rounds[slot] = round
    keys[slot] = key
    next.push(known ? heads[slot]! : -1)
    heads[slot] = stems.length
    stems.push(stem)
    return met
  }
}

/** In how many skills two stems were met in one gap. */
export class PairCounts {
  readonly firsts = new Growing()
  readonly seconds = new Growing()
  readonly counts = new Growing()
  private readonly latest = new Growing()
  private slots = new Int32Array(4096).fill(-1)

  get size(): number {
    return this.counts.size
  }

  /** Counts the pair once for the entry. */
  count(first: number, second: number, entry: number): void {
    const { firsts, seconds, counts, latest, slots } = this
    const mask = slots.length - 1
    let slot = place(first, second) & mask
    for (;;) {
      const pair = slots[slot]!
      if (pair < 0) break
      if (firsts.items[pair] === first && seconds.items[pair] === second) {
        if (latest.items[pair] !== entry) counts.items[pair]!++
        latest.items[pair] = entry
        return
      }
      slot = (slot + 1) & mask
    }
    slots[slot] = counts.size
    firsts.push(first)
    seconds.push(second)
    counts.push(1)
    latest.push(entry)
    if (counts.size * 2 > slots.length) this.grow()
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 2).fill(-1)
    const mask = this.slots.length - 1
    for (let pair = 0; pair < this.size; pair++) {
      let slot = place(this.firsts.items[pair]!, this.seconds.items[pair]!) & mask
      while (this.slots[slot]! >= 0) slot = (slot + 1) & mask
      this.slots[slot] = pair
    }
  }
}

function place(first: number, second: number): number {
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b)
  return hash ^ (hash >>> 15)
}
