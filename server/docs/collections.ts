import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { App } from '../platform/http/server.ts'
import { writeZip } from '../platform/zip.ts'
import { once } from './once.ts'

const COLLECTIONS_FOLDER = fileURLToPath(new URL('../../collections/', import.meta.url))
const BRUNO_FOLDER = `${COLLECTIONS_FOLDER}bruno/`
const POSTMAN_FILE = 'attestry.postman_collection.json'

export const POSTMAN_PATH = `/docs/collections/${POSTMAN_FILE}`
export const BRUNO_PATH = '/docs/collections/attestry-bruno.zip'

/** Serves the collections for Postman and Bruno, which `npm run collections` generates. */
export function collectionRoutes(app: App): void {
  const getBrunoZip = once(zipBrunoCollection)

  app.get(POSTMAN_PATH, async (_request, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="${POSTMAN_FILE}"`)
      .send(await readFile(`${COLLECTIONS_FOLDER}${POSTMAN_FILE}`)),
  )

  app.get(BRUNO_PATH, async (_request, reply) =>
    reply
      .type('application/zip')
      .header('content-disposition', 'attachment; filename="attestry-bruno.zip"')
      .send(await getBrunoZip()),
  )
}

async function zipBrunoCollection(): Promise<Buffer> {
  const names: string[] = []
  for await (const name of glob('**/*.{bru,json}', { cwd: BRUNO_FOLDER })) names.push(name)
  const files = await Promise.all(
    names.sort().map(async (name) => ({ name: `attestry/${name}`, content: await readFile(`${BRUNO_FOLDER}${name}`) })),
  )
  return writeZip(files)
}
