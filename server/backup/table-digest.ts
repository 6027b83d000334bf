import { hash } from 'node:crypto'
import type { TableDigest } from './archive.ts'

const LINE_FEED = 0x0a
const LANES = 4

/**
 * Counts the rows of COPY output in text format, where each line is one row, and sums their hashes. The sum does not depend on the order
 * of the rows, which a restored table need not keep. It finds damage; changes on purpose are found by the encryption.
 */
export class RowDigest {
  #rows = 0
  readonly #sums = new Uint32Array(LANES)
  #unfinishedRow: Buffer[] = []

  update(bytes: Buffer): void {
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      const part = bytes.subarray(start, end)
      this.#add(this.#unfinishedRow.length === 0 ? part : Buffer.concat([...this.#unfinishedRow, part]))
      this.#unfinishedRow = []
      start = end + 1
    }
    if (start < bytes.length) this.#unfinishedRow.push(bytes.subarray(start))
  }

  result(): TableDigest {
    const digest = [...this.#sums].map((sum) => sum.toString(16).padStart(8, '0')).join('')
    return { rows: this.#rows, digest }
  }

  #add(row: Buffer): void {
    const rowHash = hash('sha256', row, 'buffer')
    for (let lane = 0; lane < LANES; lane++) this.#sums[lane]! += rowHash.readUInt32BE(lane * 4)
    this.#rows++
  }
}
