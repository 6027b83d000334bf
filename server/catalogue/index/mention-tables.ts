import type { Stepwise } from './slices.ts'
import { checkOf, hashOf } from './tokens.ts'

/**
 * From the form of a word to the word's number. A slot holds a second hash and the number side by side, so that a word of
 * a text costs one read; between them the two hashes are wide enough that no other word passes for a known one.
 */
export class FormTable {
  private slots = new Int32Array(1024 * 2).fill(-1)
  /** What was added, to be placed anew when the table grows; dropped once it is complete. */
  private added: number[] = []

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
    if (this.added.length > this.slots.length) this.grow()
    this.added.push(hash, check, number)
    this.place(hash, check, number)
  }

  complete(): this {
    this.added = []
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
    for (let i = 0; i < this.added.length; i += 3) this.place(this.added[i]!, this.added[i + 1]!, this.added[i + 2]!)
  }
}

/** Edges of a trie in one array: parent, number, child, label. */
export class Trie {
  nodes = 1
  private edges = 0
  private slots = new Int32Array(4096 * 4)
  /** A bit for every edge: most words that follow a beginning lead nowhere, and these bits stay in the fast cache. */
  private readonly sieve = new Int32Array(2 ** 15)

  /** False when there is certainly no such edge. */
  mayStep(parent: number, number: number): boolean {
    const bit = mix(parent, number) >>> 3
    return (this.sieve[(bit >>> 5) & 0x7fff]! & (1 << (bit & 31))) !== 0
  }

  /** The place of the edge, or -1. */
  step(parent: number, number: number): number {
    const { slots } = this
    const mask = slots.length - 4
    let slot = (mix(parent, number) << 2) & mask
    for (;;) {
      const at = slots[slot]!
      if (at === 0) return -1
      if (at === parent && slots[slot + 1] === number) return slot
      slot = (slot + 4) & mask
    }
  }

  nodeAt(slot: number): number {
    return this.slots[slot + 2]!
  }

  labelAt(slot: number): number {
    return this.slots[slot + 3]!
  }

  setLabel(slot: number, label: number): void {
    this.slots[slot + 3] = label
  }

  /** The edge's place, made where there is none; a child is numbered once something follows it. */
  extend(parent: number, number: number): number {
    const known = this.step(parent, number)
    if (known >= 0) return known
    this.edges++
    const bit = mix(parent, number) >>> 3
    this.sieve[(bit >>> 5) & 0x7fff]! |= 1 << (bit & 31)
    return this.place(parent, number, 0, -1)
  }

  openNode(slot: number): number {
    if (this.slots[slot + 2] === 0) this.slots[slot + 2] = this.nodes++
    return this.slots[slot + 2]!
  }

  private place(parent: number, number: number, child: number, label: number): number {
    const { slots } = this
    const mask = slots.length - 4
    let slot = (mix(parent, number) << 2) & mask
    while (slots[slot] !== 0) slot = (slot + 4) & mask
    slots[slot] = parent
    slots[slot + 1] = number
    slots[slot + 2] = child
    slots[slot + 3] = label
    return slot
  }

  /** Whether there may be no room for so many more edges. */
  isFull(more: number): boolean {
    return (this.edges + more) * 6 > this.slots.length
  }

  *grow(): Stepwise<void> {
    const old = this.slots
    this.slots = new Int32Array(old.length * 2)
    for (let slot = 0; slot < old.length; slot += 4) {
      if (old[slot] !== 0) this.place(old[slot]!, old[slot + 1]!, old[slot + 2]!, old[slot + 3]!)
      if (slot % 65_536 === 0) yield
    }
  }
}

function mix(parent: number, number: number): number {
  const hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b)
  return hash ^ (hash >>> 15)
}
