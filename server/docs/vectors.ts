import { readFile } from 'node:fs/promises'
import type { App } from '../platform/http/server.ts'

const VECTORS_FILE = new URL('../../sdks/vectors.json', import.meta.url)

export const VECTORS_PATH = '/docs/vectors.json'

/** Serves the signature vectors, so that partners without a checkout can test their code. */
export function vectorRoutes(app: App): void {
  app.get(VECTORS_PATH, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(await readFile(VECTORS_FILE)),
  )
}
