import { Int32List } from '../text/int32-list.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { checkHash, wordHash } from '../text/tokens.ts'

/**
 * Maps forms of words to numbers. A slot holds a second hash and the number next to each other, so that a lookup is one read;
 * together the two hashes are wide enough to be unique.
 */
export class FormTable {
  private slots: Int32Array
  /** All added forms, to be inserted again when the table grows; empty once the table is complete. */
  private additions = new Int32List()

  /** `expected` forms fit without growing, which would block the event loop while the index is built in slices. */
  constructor(expectedForms: number) {
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(1024 + expectedForms * 1.5)) * 2).fill(-1)
  }

  /** Returns the number of the word with these two hashes, or -1. */
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

  /** Adds a form, unless it exists. */
  add(form: string, number: number): void {
    const hash = wordHash(form)
    const check = checkHash(form)
    if (this.find(hash, check) >= 0) return
    if (this.additions.size > this.slots.length) this.grow()
    this.additions.push(hash)
    this.additions.push(check)
    this.additions.push(number)
    this.insert(hash, check, number)
  }

  complete(): this {
    this.additions = new Int32List()
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
    const { items, size } = this.additions
    for (let i = 0; i < size; i += 3) this.insert(items[i]!, items[i + 1]!, items[i + 2]!)
  }
}

/**
 * A trie over word numbers in one flat hash table. An edge is three numbers next to each other: its parent node, its word number
 * and its target, which is a node or, below zero, a label after which nothing follows. Nodes can have a label, too.
 */
export class Trie {
  private nodeCount = 1
  private edgeCount = 0
  private slots: Int32Array
  /** Scales a hash to the number of slots, which need not be a power of two. */
  private scale: number
  private labels = new Int32Array(1024)
  /** A Bloom filter of the edges: most word pairs have no edge, and the filter fits into the CPU cache. */
  private readonly bloomFilter = new Int32Array(2 ** 15)

  /** `expected` edges fit without growing. */
  constructor(expected: number) {
    const capacity = 16_384 + Math.ceil(expected / MAX_LOAD_FACTOR)
    this.slots = new Int32Array(capacity * 3)
    this.scale = capacity / TWO_TO_32
  }

  /** Returns false if there is certainly no such edge. */
  mayHaveEdge(parent: number, number: number): boolean {
    const hash = edgeHash(parent, number)
    const bits = bloomBits(hash)
    return (this.bloomFilter[(hash >>> 8) & 0x7fff]! & bits) === bits
  }

  /** Returns the slot of the edge, or -1. */
  findEdge(parent: number, number: number): number {
    const { slots } = this
    let slot = this.slotFor(edgeHash(parent, number))
    for (;;) {
      const slotParent = slots[slot]!
      if (slotParent === 0) return -1
      if (slotParent === parent && slots[slot + 1] === number) return slot
      slot += 3
      if (slot === slots.length) slot = 0
    }
  }

  private slotFor(hash: number): number {
    return (((hash >>> 0) * this.scale) | 0) * 3
  }

  /** Returns the node at the end of an edge, or 0. */
  nodeAt(slot: number): number {
    const target = this.slots[slot + 2]!
    return Math.max(target, 0)
  }

  /** Returns the label that ends with an edge, or -1. */
  labelAt(slot: number): number {
    const target = this.slots[slot + 2]!
    return (target > 0 ? this.labels[target]! : -target) - 1
  }

  setLabel(slot: number, label: number): void {
    const target = this.slots[slot + 2]!
    if (target > 0) this.labels[target] = label + 1
    else this.slots[slot + 2] = -1 - label
  }

  newNode(): number {
    if (this.nodeCount === this.labels.length) {
      const labels = new Int32Array(this.nodeCount * 2)
      labels.set(this.labels)
      this.labels = labels
    }
    return this.nodeCount++
  }

  /** Returns the node at the end of an edge; creates it if needed. */
  ensureNode(slot: number): number {
    const target = this.slots[slot + 2]!
    if (target > 0) return target
    const node = this.newNode()
    this.labels[node] = -target
    this.slots[slot + 2] = node
    return node
  }

  /** Returns the slot of an edge; creates the edge if needed. */
  ensureEdge(parent: number, number: number): number {
    const { slots } = this
    const hash = edgeHash(parent, number)
    let slot = this.slotFor(hash)
    for (;;) {
      const slotParent = slots[slot]!
      if (slotParent === parent && slots[slot + 1] === number) return slot
      if (slotParent === 0) break
      slot += 3
      if (slot === slots.length) slot = 0
    }
    slots[slot] = parent
    slots[slot + 1] = number
    this.bloomFilter[(hash >>> 8) & 0x7fff]! |= bloomBits(hash)
    this.edgeCount++
    return slot
  }

  /** Whether the table might have no room for this many further edges. */
  isFull(edgesToAdd: number): boolean {
    return this.edgeCount + edgesToAdd > (this.slots.length / 3) * MAX_LOAD_FACTOR
  }

  /** Doubles the capacity of the table. */
  *grow(): SlicedTask<void> {
    yield* this.resize((this.slots.length / 3) * 2)
  }

  /** Shrinks the table to the capacity that lookups need; no edge can be added afterwards. */
  *complete(): SlicedTask<void> {
    this.labels = this.labels.slice(0, this.nodeCount)
    yield* this.resize(Math.ceil(this.edgeCount / FINAL_LOAD_FACTOR) + 1)
  }

  private *resize(capacity: number): SlicedTask<void> {
    const oldSlots = this.slots
    this.slots = new Int32Array(capacity * 3)
    this.scale = capacity / TWO_TO_32
    for (let slot = 0; slot < oldSlots.length; slot += 3) {
      if (oldSlots[slot] !== 0) this.insert(oldSlots[slot]!, oldSlots[slot + 1]!, oldSlots[slot + 2]!)
      if (slot % 49_152 === 0) yield
    }
  }

  private insert(parent: number, number: number, target: number): void {
    const { slots } = this
    let slot = this.slotFor(edgeHash(parent, number))
    while (slots[slot] !== 0) {
      slot += 3
      if (slot === slots.length) slot = 0
    }
    slots[slot] = parent
    slots[slot + 1] = number
    slots[slot + 2] = target
  }
}

const TWO_TO_32 = 4_294_967_296
/** Load factors of a trie's table while it grows and when it is complete. */
const MAX_LOAD_FACTOR = 0.75
const FINAL_LOAD_FACTOR = 0.8

function edgeHash(parent: number, number: number): number {
  const hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b)
  return hash ^ (hash >>> 15)
}

function bloomBits(hash: number): number {
  return (1 << (hash >>> 3)) | (1 << (hash >>> 23))
}
