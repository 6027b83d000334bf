import { Int32List } from '../text/int32-list.ts'

/** Number of slots of the hash table; must be a power of two. */
const SLOT_COUNT = 8192
const MAX_STEMS_PER_CONTEXT = 32

/**
 * The stems that occur in the same context in the labels of one skill. A context is a label with one word left out: "… staff" for
 * "manage staff" and "supervise staff". The arrays are reused from skill to skill.
 */
export class LabelContexts {
  private readonly contextKeys = new Int32Array(SLOT_COUNT)
  private readonly rounds = new Int32Array(SLOT_COUNT)
  private readonly firstStems = new Int32Array(SLOT_COUNT)
  private readonly stems: number[] = []
  private readonly nextStems: number[] = []
  private readonly otherStems: number[] = []
  private round = 0
  private usedSlots = 0

  /** Starts the next skill. */
  reset(): void {
    this.round++
    this.usedSlots = 0
    this.stems.length = 0
    this.nextStems.length = 0
  }

  /** Adds a stem to a context and returns the other stems in it; none if the stem is in it already. */
  add(context: number, stem: number): readonly number[] {
    const { contextKeys, rounds, firstStems, stems, nextStems, otherStems, round } = this
    otherStems.length = 0
    let slot = (context ^ (context >>> 15)) & (SLOT_COUNT - 1)
    while (rounds[slot] === round && contextKeys[slot] !== context) slot = (slot + 1) & (SLOT_COUNT - 1)
    const exists = rounds[slot] === round
    // Ignores further contexts of a skill with thousands of labels.
    if (!exists && this.usedSlots >= SLOT_COUNT / 2) return otherStems
    if (!exists) this.usedSlots++
    for (let at = exists ? firstStems[slot]! : -1; at >= 0; at = nextStems[at]!) {
      // Many stems in one context are rarely synonyms, and counting all pairs of thousands of stems would take minutes.
      if (otherStems.length === MAX_STEMS_PER_CONTEXT) {
        otherStems.length = 0
        return otherStems
      }
      if (stems[at] === stem) {
        otherStems.length = 0
        return otherStems
      }
      otherStems.push(stems[at]!)
    }
    rounds[slot] = round
    contextKeys[slot] = context
    nextStems.push(exists ? firstStems[slot]! : -1)
    firstStems[slot] = stems.length
    stems.push(stem)
    return otherStems
  }
}

/** Counts the skills in which two stems share a context. */
export class PairCounts {
  readonly firstStems = new Int32List()
  readonly secondStems = new Int32List()
  readonly counts = new Int32List()
  private readonly lastEntries = new Int32List()
  private slots = new Int32Array(4096).fill(-1)

  get size(): number {
    return this.counts.size
  }

  /** Counts the pair once per entry. */
  count(first: number, second: number, entry: number): void {
    const { firstStems, secondStems, counts, lastEntries, slots } = this
    const mask = slots.length - 1
    let slot = pairHash(first, second) & mask
    for (;;) {
      const pair = slots[slot]!
      if (pair < 0) break
      if (firstStems.items[pair] === first && secondStems.items[pair] === second) {
        if (lastEntries.items[pair] !== entry) counts.items[pair]!++
        lastEntries.items[pair] = entry
        return
      }
      slot = (slot + 1) & mask
    }
    slots[slot] = counts.size
    firstStems.push(first)
    secondStems.push(second)
    counts.push(1)
    lastEntries.push(entry)
    if (counts.size * 2 > slots.length) this.grow()
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 2).fill(-1)
    const mask = this.slots.length - 1
    for (let pair = 0; pair < this.size; pair++) {
      let slot = pairHash(this.firstStems.items[pair]!, this.secondStems.items[pair]!) & mask
      while (this.slots[slot]! >= 0) slot = (slot + 1) & mask
      this.slots[slot] = pair
    }
  }
}

function pairHash(first: number, second: number): number {
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b)
  return hash ^ (hash >>> 15)
}
