import { parentPort, Worker } from 'node:worker_threads'

interface DrawingRequest<Input> {
  requestId: number
  input: Input
}

type DrawingResponse = { requestId: number; bytes: Uint8Array } | { requestId: number; error: string }

interface PendingDrawing {
  worker: Worker
  resolve: (bytes: Buffer) => void
  reject: (error: Error) => void
}

/** Fonts and libraries take about 50 MB: the thread ends when nothing was drawn for this time. */
const IDLE_MS = 30_000

/**
 * Draws files in a worker thread, which starts with the first drawing: drawing keeps a processor busy for hundreds of milliseconds.
 * The script of the thread calls `serveDrawings`.
 */
export class DrawingThread<Input> {
  private worker: Worker | undefined
  private idleTimer: ReturnType<typeof setTimeout> | undefined
  private lastRequestId = 0
  private readonly pending = new Map<number, PendingDrawing>()
  private readonly script: URL

  constructor(script: URL) {
    this.script = script
  }

  /** `input` is copied to the thread, so that it may contain only data. */
  draw(input: Input): Promise<Buffer> {
    clearTimeout(this.idleTimer)
    const worker = this.worker ?? this.startWorker()
    const requestId = ++this.lastRequestId
    return new Promise((resolve, reject) => {
      this.pending.set(requestId, { worker, resolve, reject })
      worker.postMessage({ requestId, input } satisfies DrawingRequest<Input>)
    })
  }

  async close(): Promise<void> {
    clearTimeout(this.idleTimer)
    const { worker } = this
    this.worker = undefined
    await worker?.terminate()
  }

  private startWorker(): Worker {
    const worker = new Worker(this.script)
    this.worker = worker
    // A process that has nothing else to do may exit.
    worker.unref()
    worker.on('message', (response: DrawingResponse) => this.handleResponse(response))
    worker.on('error', (error) => this.rejectPending(worker, error as Error))
    worker.on('exit', () => {
      if (this.worker === worker) this.worker = undefined
      this.rejectPending(worker, new Error('the thread that draws files ended'))
    })
    return worker
  }

  private handleResponse(response: DrawingResponse) {
    const waiting = this.pending.get(response.requestId)
    this.pending.delete(response.requestId)
    if ('bytes' in response) waiting?.resolve(Buffer.from(response.bytes))
    else waiting?.reject(new Error(`drawing a file failed: ${response.error}`))
    if (this.pending.size > 0) return
    this.idleTimer = setTimeout(() => void this.close(), IDLE_MS)
    this.idleTimer.unref()
  }

  /** Rejects the drawings of one thread: the next thread can have drawings before this one has ended. */
  private rejectPending(worker: Worker, error: Error) {
    for (const [requestId, drawing] of this.pending) {
      if (drawing.worker !== worker) continue
      this.pending.delete(requestId)
      drawing.reject(error)
    }
  }
}

/** Responds to the drawings that the main thread requests; called by the script of a thread. */
export function serveDrawings<Input>(draw: (input: Input) => Promise<Uint8Array>): void {
  parentPort!.on('message', async ({ requestId, input }: DrawingRequest<Input>) => {
    try {
      respond({ requestId, bytes: await draw(input) })
    } catch (error) {
      respond({ requestId, error: error instanceof Error ? error.message : String(error) })
    }
  })
}

function respond(response: DrawingResponse) {
  parentPort!.postMessage(response)
}
