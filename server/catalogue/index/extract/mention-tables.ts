import { Growing } from '../labels/labels.ts'
import type { Stepwise } from '../text/time-slicing.ts'
import { checkOf, hashOf } from '../text/tokens.ts'

/**
 * From the form of a word to the word's number. A slot holds a second hash and the number side by side, so that a word of
 * a text costs one read; between them the two hashes are wide enough that no other word passes for a known one.
 */
export class FormTable {
  private slots: Int32Array
  /** What was added, to be placed anew when the table grows; dropped once it is complete. */
  private added = new Growing()

  /** `expected` forms go in without the table growing, which holds up who waits for the next step. */
  constructor(expected: number) {
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(1024 + expected * 1.5)) * 2).fill(-1)
  }

  /** The number of the word with these two hashes, or -1. */
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

  /** Adds a form, unless it is there already. */
  add(form: string, number: number): void {
    const hash = hashOf(form)
    const check = checkOf(form)
    if (this.find(hash, check) >= 0) return
    if (this.added.size > this.slots.length) this.grow()
    this.added.push(hash)
    this.added.push(check)
    this.added.push(number)
    this.place(hash, check, number)
  }

  complete(): this {
    this.added = new Growing()
    return this
  }

  private place(hash: number, check: number, number: number): void {
    const mask = this.slots.length - 2
    let slot = ((hash ^ (hash >>> 15)) << 1) & mask
    while (this.slots[slot + 1]! >= 0) slot = (slot + 2) & mask
    this.slots[slot] = check
    this.slots[slot + 1] = number
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 2).fill(-1)
    const { items, size } = this.added
    for (let i = 0; i < size; i += 3) this.place(items[i]!, items[i + 1]!, items[i + 2]!)
  }
}

/**
 * A trie over numbers. An edge is three numbers side by side: the node it leaves, the number it takes, and where it leads: to
 * a node, or straight to a label (below zero) where nothing follows. Nodes have a label of their own.
 */
export class Trie {
  private nodes = 1
  private edges = 0
  private slots: Int32Array
  /** Hashes are scaled to the number of slots, which need be no power of two. */
  private scale: number
  private labels = new Int32Array(1024)
  /** Two bits for every edge: most words that follow a beginning lead nowhere, and these bits stay in the fast cache. */
  private readonly sieve = new Int32Array(2 ** 15)

  /** `expected` edges go in without the table growing. */
  constructor(expected: number) {
    const places = 16_384 + Math.ceil(expected / FULLEST)
    this.slots = new Int32Array(places * 3)
    this.scale = places / TWO_TO_32
  }

  /** False when there is certainly no such edge. */
  mayStep(parent: number, number: number): boolean {
    const hash = mix(parent, number)
    const bits = sieveBits(hash)
    return (this.sieve[(hash >>> 8) & 0x7fff]! & bits) === bits
  }

  /** The place of the edge, or -1. */
  step(parent: number, number: number): number {
    const { slots } = this
    let slot = this.slotFor(mix(parent, number))
    for (;;) {
      const at = slots[slot]!
      if (at === 0) return -1
      if (at === parent && slots[slot + 1] === number) return slot
      slot += 3
      if (slot === slots.length) slot = 0
    }
  }

  private slotFor(hash: number): number {
    return (((hash >>> 0) * this.scale) | 0) * 3
  }

  /** The node that an edge leads to, or 0. */
  nodeAt(slot: number): number {
    const target = this.slots[slot + 2]!
    return Math.max(target, 0)
  }

  /** The label that ends with an edge, or -1. */
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
    if (this.nodes === this.labels.length) {
      const labels = new Int32Array(this.nodes * 2)
      labels.set(this.labels)
      this.labels = labels
    }
    return this.nodes++
  }

  /** The node that an edge leads to, made where there is none. */
  openNode(slot: number): number {
    const target = this.slots[slot + 2]!
    if (target > 0) return target
    const node = this.newNode()
    this.labels[node] = -target
    this.slots[slot + 2] = node
    return node
  }

  /** The edge's place, made where there is none. */
  extend(parent: number, number: number): number {
    const { slots } = this
    const hash = mix(parent, number)
    let slot = this.slotFor(hash)
    for (;;) {
      const at = slots[slot]!
      if (at === parent && slots[slot + 1] === number) return slot
      if (at === 0) break
      slot += 3
      if (slot === slots.length) slot = 0
    }
    slots[slot] = parent
    slots[slot + 1] = number
    this.sieve[(hash >>> 8) & 0x7fff]! |= sieveBits(hash)
    this.edges++
    return slot
  }

  /** Whether there may be no room for so many more edges. */
  isFull(more: number): boolean {
    return this.edges + more > (this.slots.length / 3) * FULLEST
  }

  /** Twice the room. */
  *grow(): Stepwise<void> {
    yield* this.resize((this.slots.length / 3) * 2)
  }

  /** No more room than it takes to be found quickly; nothing is added any more. */
  *complete(): Stepwise<void> {
    this.labels = this.labels.slice(0, this.nodes)
    yield* this.resize(Math.ceil(this.edges / 0.8) + 1)
  }

  private *resize(places: number): Stepwise<void> {
    const old = this.slots
    this.slots = new Int32Array(places * 3)
    this.scale = places / TWO_TO_32
    for (let slot = 0; slot < old.length; slot += 3) {
      if (old[slot] !== 0) this.place(old[slot]!, old[slot + 1]!, old[slot + 2]!)
      if (slot % 49_152 === 0) yield
    }
  }

  private place(parent: number, number: number, target: number): void {
    const { slots } = this
    let slot = this.slotFor(mix(parent, number))
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
/** How full the table of a trie gets while it grows. */
const FULLEST = 0.75

function mix(parent: number, number: number): number {
  const hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b)
  return hash ^ (hash >>> 15)
}

function sieveBits(hash: number): number {
  return (1 << (hash >>> 3)) | (1 << (hash >>> 23))
}
