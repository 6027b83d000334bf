import { parentPort } from 'node:worker_threads'
import { renderCredentialPdf } from './credential-pdf.ts'
import { renderCredentialPicture } from './credential-picture.ts'
import type { DrawingRequest, DrawingResponse } from './drawings.ts'

// Runs in a worker thread: drawing keeps a processor busy for hundreds of milliseconds.
parentPort!.on('message', async ({ requestId, format, credential, options }: DrawingRequest) => {
  try {
    const bytes = await (format === 'pdf'
      ? renderCredentialPdf(credential, options)
      : renderCredentialPicture(credential, options.now))
    respond({ requestId, bytes })
  } catch (error) {
    respond({ requestId, error: error instanceof Error ? error.message : String(error) })
  }
})

function respond(response: DrawingResponse) {
  parentPort!.postMessage(response)
}
