import { Int32List } from '../text/int32-list.ts'

/** Number of slots of the hash table; must be a power of two. */
const SLOT_COUNT = 8192
/** If a context has more stems than this, it is full, and no further stems are added. */
const MAX_STEMS_PER_CONTEXT = 32

/**
 * The stems by context, for the labels of one skill. A context is a label with one word left out: "manage staff" and "supervise
 * staff" have the common context "… staff", with the stems of manage and supervise. A context is identified by its hash.
 *
 * This is a hash table with open addressing. Each slot is a context with a linked list of stems. The arrays are reused for the
 * next skill.
 */
export class LabelContexts {
  private readonly slotContexts = new Int32Array(SLOT_COUNT)
  /** By slot: the round in which it was filled. A slot of an earlier round is empty. */
  private readonly slotRounds = new Int32Array(SLOT_COUNT)
  /** By slot: the index in `stems` of the first stem of the linked list. */
  private readonly firstStems = new Int32Array(SLOT_COUNT)
  private readonly stems: number[] = []
  /** By index in `stems`: the index of the next stem of the same context, or -1. */
  private readonly nextStems: number[] = []
  /** The result of `add`, reused for every call. */
  private readonly otherStems: number[] = []
  /** Number of the current skill. */
  private round = 0
  private usedSlots = 0

  /** Removes all contexts, for the next skill. */
  reset(): void {
    this.round++
    this.usedSlots = 0
    this.stems.length = 0
    this.nextStems.length = 0
  }

  /**
   * Adds a stem to a context. Returns the other stems of the context. Returns no stems if the stem was already added, or if the
   * context or the table is full.
   */
  add(contextHash: number, stem: number): readonly number[] {
    const { slotContexts, slotRounds, firstStems, stems, nextStems, otherStems, round } = this
    otherStems.length = 0
    let slot = (contextHash ^ (contextHash >>> 15)) & (SLOT_COUNT - 1)
    while (slotRounds[slot] === round && slotContexts[slot] !== contextHash) slot = (slot + 1) & (SLOT_COUNT - 1)
    const exists = slotRounds[slot] === round
    // The table is full. This happens only for a skill with thousands of labels.
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
    slotRounds[slot] = round
    slotContexts[slot] = contextHash
    nextStems.push(exists ? firstStems[slot]! : -1)
    firstStems[slot] = stems.length
    stems.push(stem)
    return otherStems
  }
}

/** Counts, for each pair of stems, the skills in which they have a common context. A hash table with open addressing. */
export class PairCounts {
  readonly firstStems = new Int32List()
  readonly secondStems = new Int32List()
  readonly counts = new Int32List()
  /** By pair: the entry index of the skill for which it was counted last. */
  private readonly lastEntryIndexes = new Int32List()
  /** By hash: the number of a pair, or -1. */
  private slots = new Int32Array(4096).fill(-1)

  get size(): number {
    return this.counts.size
  }

  /** Counts a pair of stems. Repeated calls for the same skill count once. */
  count(first: number, second: number, entryIndex: number): void {
    const { firstStems, secondStems, counts, lastEntryIndexes, slots } = this
    const mask = slots.length - 1
    let slot = pairHash(first, second) & mask
    for (;;) {
      const pair = slots[slot]!
      if (pair < 0) break
      if (firstStems.items[pair] === first && secondStems.items[pair] === second) {
        if (lastEntryIndexes.items[pair] !== entryIndex) counts.items[pair]!++
        lastEntryIndexes.items[pair] = entryIndex
        return
      }
      slot = (slot + 1) & mask
    }
    slots[slot] = counts.size
    firstStems.push(first)
    secondStems.push(second)
    counts.push(1)
    lastEntryIndexes.push(entryIndex)
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
