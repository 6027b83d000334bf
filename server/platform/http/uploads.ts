import type { ServerResponse } from 'node:http'
import { problem } from '../../api/problem.ts'

/** Maximum number of simultaneous uploads of a person or session. */
const MAX_UPLOADS_PER_UPLOADER = 2
/** Maximum size of all uploads that a process receives or handles at the same time. */
const MAX_UPLOAD_BYTES = 64 * 1024 * 1024
/** A caller can hold an upload open for minutes without sending it. One organisation must not keep all others from uploading. */
const MAX_UPLOAD_BYTES_PER_ORGANISATION = MAX_UPLOAD_BYTES / 2
const RETRY_AFTER_SECONDS = 10

export interface Upload {
  /** The session token or ID of the person. */
  uploader: string
  orgId: string
  bytes: number
}

/** Limits the large bodies that are received at the same time, because they are held in memory. */
export class Uploads {
  #bytes = 0
  readonly #countsByUploader = new Map<string, number>()
  readonly #bytesByOrganisation = new Map<string, number>()

  /** Reserves memory for a body until its response is sent. Throws if too many others are being received. */
  reserve({ uploader, orgId, bytes }: Upload, response: ServerResponse): void {
    if ((this.#countsByUploader.get(uploader) ?? 0) >= MAX_UPLOADS_PER_UPLOADER)
      throw problem(
        'RATE_LIMITED',
        `Too many uploads at the same time in this session: the limit is ${MAX_UPLOADS_PER_UPLOADER}. Try again when one has ended.`,
        { retryAfter: RETRY_AFTER_SECONDS },
      )
    if ((this.#bytesByOrganisation.get(orgId) ?? 0) + bytes > MAX_UPLOAD_BYTES_PER_ORGANISATION)
      throw problem(
        'RATE_LIMITED',
        'Too many uploads at the same time in this organisation. Try again when one has ended.',
        { retryAfter: RETRY_AFTER_SECONDS },
      )
    if (this.#bytes + bytes > MAX_UPLOAD_BYTES)
      throw problem(
        'SERVICE_UNAVAILABLE',
        'The server is receiving too many files at the moment. Nothing was changed. Retry after the time in the Retry-After header.',
        { retryAfter: RETRY_AFTER_SECONDS },
      )
    if (response.destroyed) return // closed already: there is no further event
    const add = (sign: 1 | -1) => {
      this.#bytes += sign * bytes
      addTo(this.#countsByUploader, uploader, sign)
      addTo(this.#bytesByOrganisation, orgId, sign * bytes)
    }
    add(1)
    response.once('close', () => add(-1))
  }
}

/** Adds to the number of a key, and removes a key whose number is 0. */
function addTo(numbers: Map<string, number>, key: string, difference: number): void {
  const sum = (numbers.get(key) ?? 0) + difference
  if (sum > 0) numbers.set(key, sum)
  else numbers.delete(key)
}

/** Returns the length of a body that its header states, or the maximum if the body is sent in chunks. */
export function declaredBytes(headers: { 'content-length'?: string | undefined }, maxBytes: number): number {
  const declaredLength = headers['content-length']
  return declaredLength === undefined ? maxBytes : Number(declaredLength)
}
