import { Int32List } from '../text/int32-list.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { checkHash, wordHash } from '../text/tokens.ts'

/** Initial capacity of a `FormTable`: 1.5 slots per form give a load factor of at most 2/3. */
const SLOTS_PER_FORM = 1.5
const MIN_SLOT_COUNT = 1024

/**
 * Hash table from word forms to the number that identifies their stem or label. A form is one spelling of a word, such as an inflection. The table
 * stores no letters. `wordHash` selects the slot, and the slot has the `checkHash` of the form and its number. The two hashes
 * have 64 bits together, so two forms practically never share both.
 */
export class FormTable {
  /** Two integers per slot: the check hash and the number of a form. The number is -1 if the slot is free. */
  private slots: Int32Array<ArrayBuffer>
  /** Hash, check hash and number of each added form. They are inserted again when the table grows. Empty after `complete`. */
  private addedForms = new Int32List()

  /** Reserves room for `expectedFormCount` forms: growing is not sliced and would block the event loop while the index is built. */
  constructor(expectedFormCount: number) {
    const slotCount = 2 ** Math.ceil(Math.log2(MIN_SLOT_COUNT + expectedFormCount * SLOTS_PER_FORM))
    this.slots = new Int32Array(slotCount * 2).fill(-1)
  }

  /** Creates the table that had these stored parts. No form can be added. */
  static restore(slots: Int32Array<ArrayBuffer>): FormTable {
    const table = new FormTable(0)
    table.slots = slots
    return table
  }

  /** Returns the arguments of `restore`. */
  storedParts(): Parameters<typeof FormTable.restore> {
    return [this.slots]
  }

  /** Returns the number of the form with these two hashes, or -1. */
  find(hash: number, check: number): number {
    const { slots } = this
    const mask = slots.length - 2
    let slot = ((hash ^ (hash >>> 15)) << 1) & mask
    for (;;) {
      const number = slots[slot + 1]!
      if (number < 0 || slots[slot] === check) return number
      slot = (slot + 2) & mask
    }
  }

  /** Adds a form. Has no effect if the form has a number already. */
  add(form: string, number: number): void {
    const hash = wordHash(form)
    const check = checkHash(form)
    if (this.find(hash, check) >= 0) return
    // A form has three integers and a slot has two, so the table grows at a load factor of 2/3.
    if (this.addedForms.size > this.slots.length) this.grow()
    this.addedForms.push(hash)
    this.addedForms.push(check)
    this.addedForms.push(number)
    this.insert(hash, check, number)
  }

  /** Releases the memory that is needed only to add forms. */
  complete(): this {
    this.addedForms = new Int32List()
    return this
  }

  private insert(hash: number, check: number, number: number): void {
    const mask = this.slots.length - 2
    let slot = ((hash ^ (hash >>> 15)) << 1) & mask
    while (this.slots[slot + 1]! >= 0) slot = (slot + 2) & mask
    this.slots[slot] = check
    this.slots[slot + 1] = number
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 2).fill(-1)
    const { items, size } = this.addedForms
    for (let i = 0; i < size; i += 3) this.insert(items[i]!, items[i + 1]!, items[i + 2]!)
  }
}

/**
 * Trie (prefix tree) over sequences of stem numbers, with all edges in one flat hash table. An edge has three integers: its
 * parent node, its stem number and its target. A positive target is a node, which may have a label and further edges. If the
 * target is negative, the sequence ends there, and the target is -1 - label. An edge is identified by its slot.
 */
export class Trie {
  /** Nodes are numbered from 1; 0 means no node. */
  private nodeCount = 1
  private edgeCount = 0
  private slots: Int32Array
  /** Factor from an unsigned 32-bit hash to the index of an edge, so that the capacity need not be a power of two. */
  private slotsPerHash: number
  /** By node: the label that ends there plus 1, or 0. */
  private labels = new Int32Array(1024)
  /** Bloom filter of the edges. Most lookups find no edge, and the filter is small enough for the CPU cache. */
  private bloomFilter = new Int32Array(2 ** 15)

  /** Reserves room for `expectedEdgeCount` edges. */
  constructor(expectedEdgeCount: number) {
    const capacity = 16_384 + Math.ceil(expectedEdgeCount / MAX_LOAD_FACTOR)
    this.slots = new Int32Array(capacity * 3)
    this.slotsPerHash = capacity / TWO_TO_32
  }

  /** Creates the trie that had these stored parts. No edge can be added. */
  static restore(slots: Int32Array, labels: Int32Array<ArrayBuffer>, bloomFilter: Int32Array<ArrayBuffer>): Trie {
    const trie = new Trie(0)
    trie.slots = slots
    trie.slotsPerHash = slots.length / 3 / TWO_TO_32
    trie.labels = labels
    trie.bloomFilter = bloomFilter
    return trie
  }

  /** Returns the arguments of `restore`. */
  storedParts(): Parameters<typeof Trie.restore> {
    return [this.slots, this.labels, this.bloomFilter]
  }

  /** Returns false if there is certainly no such edge, and true if there may be one. */
  mayHaveEdge(parent: number, stemNumber: number): boolean {
    const hash = edgeHash(parent, stemNumber)
    const bits = bloomBits(hash)
    return (this.bloomFilter[(hash >>> 8) & 0x7fff]! & bits) === bits
  }

  /** Returns the slot of the edge, or -1. */
  findEdge(parent: number, stemNumber: number): number {
    const { slots } = this
    let slot = this.slotFor(edgeHash(parent, stemNumber))
    for (;;) {
      const slotParent = slots[slot]!
      if (slotParent === 0) return -1
      if (slotParent === parent && slots[slot + 1] === stemNumber) return slot
      slot += 3
      if (slot === slots.length) slot = 0
    }
  }

  private slotFor(hash: number): number {
    return (((hash >>> 0) * this.slotsPerHash) | 0) * 3
  }

  /** Returns the target node of an edge, or 0. */
  nodeAt(slot: number): number {
    const target = this.slots[slot + 2]!
    return Math.max(target, 0)
  }

  /** Returns the label whose last word is this edge, or -1. */
  labelAt(slot: number): number {
    const target = this.slots[slot + 2]!
    return (target > 0 ? this.labels[target]! : -target) - 1
  }

  setLabel(slot: number, label: number): void {
    const target = this.slots[slot + 2]!
    if (target > 0) this.labels[target] = label + 1
    else this.slots[slot + 2] = -1 - label
  }

  addNode(): number {
    if (this.nodeCount === this.labels.length) {
      const labels = new Int32Array(this.nodeCount * 2)
      labels.set(this.labels)
      this.labels = labels
    }
    return this.nodeCount++
  }

  /** Returns the target node of an edge. Creates the node if needed. */
  ensureNode(slot: number): number {
    const target = this.slots[slot + 2]!
    if (target > 0) return target
    const node = this.addNode()
    this.labels[node] = -target
    this.slots[slot + 2] = node
    return node
  }

  /** Returns the slot of an edge. Creates the edge if needed. */
  ensureEdge(parent: number, stemNumber: number): number {
    const { slots } = this
    const hash = edgeHash(parent, stemNumber)
    let slot = this.slotFor(hash)
    for (;;) {
      const slotParent = slots[slot]!
      if (slotParent === parent && slots[slot + 1] === stemNumber) return slot
      if (slotParent === 0) break
      slot += 3
      if (slot === slots.length) slot = 0
    }
    slots[slot] = parent
    slots[slot + 1] = stemNumber
    this.bloomFilter[(hash >>> 8) & 0x7fff]! |= bloomBits(hash)
    this.edgeCount++
    return slot
  }

  /** Whether the table must grow before this many edges are added. */
  lacksRoomFor(edgesToAdd: number): boolean {
    return this.edgeCount + edgesToAdd > (this.slots.length / 3) * MAX_LOAD_FACTOR
  }

  /** Doubles the capacity of the table. */
  *grow(): SlicedTask<void> {
    yield* this.resize((this.slots.length / 3) * 2)
  }

  /** Shrinks the table to its final load factor. No edge can be added afterwards. */
  *complete(): SlicedTask<void> {
    this.labels = this.labels.slice(0, this.nodeCount)
    yield* this.resize(Math.ceil(this.edgeCount / FINAL_LOAD_FACTOR) + 1)
  }

  private *resize(capacity: number): SlicedTask<void> {
    const oldSlots = this.slots
    this.slots = new Int32Array(capacity * 3)
    this.slotsPerHash = capacity / TWO_TO_32
    for (let slot = 0; slot < oldSlots.length; slot += 3) {
      if (oldSlots[slot] !== 0) this.insert(oldSlots[slot]!, oldSlots[slot + 1]!, oldSlots[slot + 2]!)
      if (slot % 49_152 === 0) yield
    }
  }

  private insert(parent: number, stemNumber: number, target: number): void {
    const { slots } = this
    let slot = this.slotFor(edgeHash(parent, stemNumber))
    while (slots[slot] !== 0) {
      slot += 3
      if (slot === slots.length) slot = 0
    }
    slots[slot] = parent
    slots[slot + 1] = stemNumber
    slots[slot + 2] = target
  }
}

const TWO_TO_32 = 4_294_967_296
/** Load factor of the trie's hash table (edges per slot): the maximum while edges are added, and the value after `complete`. */
const MAX_LOAD_FACTOR = 0.75
const FINAL_LOAD_FACTOR = 0.8

function edgeHash(parent: number, stemNumber: number): number {
  const hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(stemNumber, 0x85ebca6b)
  return hash ^ (hash >>> 15)
}

/** Returns the two bits of an edge in its 32-bit item of the Bloom filter. */
function bloomBits(hash: number): number {
  return (1 << (hash >>> 3)) | (1 << (hash >>> 23))
}
