/** A growable list of 32-bit integers in one typed array. */
export class Int32List {
  /** The values are the first `size` items; the others are spare capacity. */
  items = new Int32Array(1024)
  size = 0

  push(value: number): void {
    if (this.size === this.items.length) {
      const items = new Int32Array(this.size * 2)
      items.set(this.items)
      this.items = items
    }
    this.items[this.size++] = value
  }

  toArray(): Int32Array {
    return this.items.slice(0, this.size)
  }
}
