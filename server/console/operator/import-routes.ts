import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { saveBody } from '../../platform/http/body.ts'
import type { App } from '../../platform/http/server.ts'
import { noteChange } from '../auth/guards.ts'
import { pageOf } from '../paginate.ts'
import { answer, PageQuery } from '../schema.ts'
import { beginImport, importRecord, listImports, runImport } from './imports.ts'

const LARGEST = 64 * 1024 * 1024

const ImportQuery = Type.Object({
  format: Type.Enum(['csv', 'lightcast']),
  file_name: Type.String({ minLength: 1, maxLength: 200 }),
  dry_run: Type.Boolean({ default: false }),
})

/** A taxonomy in one file is handed in here; those that come as folders are for the command line. */
export function importRoutes(app: App, context: Context): void {
  const { db, vault } = context
  const config = { role: 'operator' } as const

  app.get('/operator/catalogue/imports', { config, schema: { querystring: PageQuery } }, async ({ query }) => {
    const found = await pageOf(
      vault,
      'imports',
      query,
      (before: string | undefined, limit) => listImports(db.queries, context.clock, { before, limit }),
      ({ import_id }) => import_id,
      importRecord,
    )
    return answer('Imports', found)
  })

  app.post(
    '/operator/catalogue/imports',
    { config: { ...config, upload: true }, schema: { querystring: ImportQuery } },
    async (request, reply) => {
      const folder = await mkdtemp(join(tmpdir(), 'attestry-import-'))
      const path = join(folder, 'taxonomy')
      const tidy = () => rm(folder, { recursive: true, force: true })
      try {
        await saveBody(request.raw, path, LARGEST)
        const begun = await db.transaction(async (tx) => {
          const made = await beginImport(tx, context.clock, { ...request.query, startedBy: 'operator' })
          const details = { format: made.format, file_name: made.file_name, dry_run: made.dry_run }
          await noteChange(tx, context, request, 'catalogue.import', made.import_id, details)
          return made
        })
        void runImport(context, begun, path).finally(tidy)
        reply.status(202)
        return answer('The import runs', importRecord(begun))
      } catch (error) {
        await tidy()
        throw error
      }
    },
  )
}
