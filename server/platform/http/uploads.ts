import type { ServerResponse } from 'node:http'
import { problem } from '../api/problem.ts'

const MAX_UPLOADS_PER_SESSION = 2
/** Of all uploads that this process receives or handles at the same time. */
const MAX_UPLOAD_BYTES = 64 * 1024 * 1024
const RETRY_AFTER_SECONDS = 10

/** Limits the large bodies that are received at the same time, because they are held in memory. */
export class Uploads {
  private bytes = 0
  private readonly countOf = new Map<string, number>()

  /** Reserves memory for a body until its response is sent. Throws if too many others are being received. */
  reserve(sessionToken: string, bytes: number, response: ServerResponse): void {
    const count = this.countOf.get(sessionToken) ?? 0
    if (count >= MAX_UPLOADS_PER_SESSION)
      throw problem(
        'RATE_LIMITED',
        `Too many uploads at the same time with this session token: the limit is ${MAX_UPLOADS_PER_SESSION}. Try again when one has ended.`,
        { retryAfter: RETRY_AFTER_SECONDS },
      )
    if (this.bytes + bytes > MAX_UPLOAD_BYTES)
      throw problem(
        'SERVICE_UNAVAILABLE',
        'The server is receiving too many files at the moment. Nothing was changed. Retry after the time in the Retry-After header.',
        { retryAfter: RETRY_AFTER_SECONDS },
      )
    if (response.destroyed) return // closed already: there is no further event
    this.bytes += bytes
    this.countOf.set(sessionToken, count + 1)
    response.once('close', () => {
      this.bytes -= bytes
      const left = this.countOf.get(sessionToken)! - 1
      if (left > 0) this.countOf.set(sessionToken, left)
      else this.countOf.delete(sessionToken)
    })
  }
}
