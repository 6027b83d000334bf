import { hash } from 'node:crypto'

/** Where the next page of one question starts. The places never change while a server runs, so a position says it all. */
export function cursorAt(offset: number, question: unknown): string {
  return Buffer.from(`${offset}.${fingerprint(question)}`).toString('base64url')
}

/** Undefined for what is no cursor of this question. */
export function offsetOf(cursor: string, question: unknown): number | undefined {
  const [, offset, print] = /^(\d{1,6})\.([0-9a-f]+)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  return offset !== undefined && print === fingerprint(question) ? Number(offset) : undefined
}

function fingerprint(question: unknown): string {
  return hash('sha256', JSON.stringify(question)).slice(0, 12)
}
