import { Worker } from 'node:worker_threads'
import type { Language } from '../../platform/text/languages.ts'
import type { PublicCredential } from '../credentials.ts'
import { credentialState } from './credential-state.ts'

export interface DrawingOptions {
  url: string
  language: Language
  now: number
}

export interface DrawingRequest {
  requestId: number
  format: 'pdf' | 'png'
  credential: PublicCredential
  options: DrawingOptions
}

export type DrawingResponse = { requestId: number; bytes: Uint8Array } | { requestId: number; error: string }

/** Fonts and libraries take about 50 MB: the thread ends when nothing was drawn for this time. */
const IDLE_MS = 30_000
/** A link that is posted in a group is fetched by many servers at about the same time. */
const MAX_CACHED_DRAWINGS = 50

/** Draws PDF files and pictures in a worker thread, which starts with the first drawing. */
export class Drawings {
  private worker: Worker | undefined
  private idleTimer: ReturnType<typeof setTimeout> | undefined
  private lastRequestId = 0
  private readonly pending = new Map<number, { resolve: (bytes: Buffer) => void; reject: (error: Error) => void }>()
  private readonly cache = new Map<string, Promise<Buffer>>()

  draw(format: DrawingRequest['format'], credential: PublicCredential, options: DrawingOptions): Promise<Buffer> {
    const state = credentialState(credential, options.now)
    const key = [format, credential.id, state, format === 'pdf' ? options.language : ''].join(' ')
    let drawing = this.cache.get(key)
    if (!drawing) {
      drawing = this.send(format, credential, options)
      this.cache.set(key, drawing)
      drawing.catch(() => this.cache.delete(key))
      if (this.cache.size > MAX_CACHED_DRAWINGS) this.cache.delete(this.cache.keys().next().value!)
    }
    return drawing
  }

  async close(): Promise<void> {
    clearTimeout(this.idleTimer)
    const { worker } = this
    this.worker = undefined
    await worker?.terminate()
  }

  private send(
    format: DrawingRequest['format'],
    credential: PublicCredential,
    options: DrawingOptions,
  ): Promise<Buffer> {
    clearTimeout(this.idleTimer)
    const worker = this.worker ?? this.startWorker()
    const requestId = ++this.lastRequestId
    return new Promise((resolve, reject) => {
      this.pending.set(requestId, { resolve, reject })
      worker.postMessage({ requestId, format, credential, options } satisfies DrawingRequest)
    })
  }

  private startWorker(): Worker {
    const worker = new Worker(new URL('drawing-worker.ts', import.meta.url))
    this.worker = worker
    // A process that has nothing else to do may exit.
    worker.unref()
    worker.on('message', (response: DrawingResponse) => this.handleResponse(response))
    worker.on('error', (error) => this.rejectPending(error as Error))
    worker.on('exit', () => {
      if (this.worker === worker) this.worker = undefined
      this.rejectPending(new Error('the thread that draws credentials ended'))
    })
    return worker
  }

  private handleResponse(response: DrawingResponse) {
    const waiting = this.pending.get(response.requestId)
    this.pending.delete(response.requestId)
    if ('bytes' in response) waiting?.resolve(Buffer.from(response.bytes))
    else waiting?.reject(new Error(`drawing a credential failed: ${response.error}`))
    if (this.pending.size > 0) return
    this.idleTimer = setTimeout(() => void this.close(), IDLE_MS)
    this.idleTimer.unref()
  }

  private rejectPending(error: Error) {
    for (const { reject } of this.pending.values()) reject(error)
    this.pending.clear()
  }
}
