import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Type } from 'typebox'
import { createImport, importRecord, listImports } from '../../catalogue/import/import-records.ts'
import { ImportParams, ImportUndoEffects } from '../../catalogue/import/schema.ts'
import { describeUndo, undoAuditDetails, undoImport, undoRecord } from '../../catalogue/import/undo.ts'
import type { Context } from '../../context.ts'
import { NoBody, saveBody } from '../../platform/http/body.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'
import { runImport } from './imports.ts'
import { ImportRecord } from './schema.ts'

const MAX_TAXONOMY_BYTES = 64 * 1024 * 1024

const ImportQuery = Type.Object({
  format: Type.Enum(['csv', 'lightcast']),
  file_name: Type.String({ minLength: 1, maxLength: 200 }),
  dry_run: Type.Boolean({ default: false }),
})

/** Routes for importing taxonomies that consist of one file. Taxonomies in several files are imported with the command line. */
export function importRoutes(app: App, context: Context): void {
  const { db, vault } = context
  const config = { role: 'operator' } as const

  app.get(
    '/operator/catalogue/imports',
    { config, schema: { querystring: PageQuery, response: { 200: success(listOf(ImportRecord)) } } },
    async ({ query }) => {
      const resultPage = await paginate(
        vault,
        'imports',
        query,
        (before: string | undefined, limit) => listImports(db.queries, context.clock, { before, limit }),
        ({ import_id }) => import_id,
        importRecord,
      )
      return successResponse('Imports', resultPage)
    },
  )

  app.get(
    '/operator/catalogue/imports/:import_id/undo',
    { config, schema: { params: ImportParams, response: { 200: success(ImportUndoEffects) } } },
    async ({ params }) =>
      successResponse('Effects of the undo', undoRecord(await describeUndo(db.queries, params.import_id))),
  )

  app.post(
    '/operator/catalogue/imports/:import_id/undo',
    { config, schema: { params: ImportParams, body: NoBody, response: { 200: success(ImportUndoEffects) } } },
    async (request) => {
      const { import_id } = request.params
      const effects = await db.transaction(async (tx) => {
        const effects = await undoImport(tx, context.clock, import_id, request.session.email)
        const details = undoAuditDetails(effects)
        await recordRequestAudit(tx, context, request, 'catalogue.undo_import', import_id, details)
        return effects
      })
      await context.catalogue.refreshAfterChange()
      return successResponse('Import undone', undoRecord(effects))
    },
  )

  app.post(
    '/operator/catalogue/imports',
    {
      config: { ...config, upload: true },
      schema: { querystring: ImportQuery, response: { 202: success(ImportRecord) } },
    },
    async (request, reply) => {
      const folder = await mkdtemp(join(tmpdir(), 'attestry-import-'))
      const path = join(folder, 'taxonomy')
      const deleteFolder = () => rm(folder, { recursive: true, force: true })
      try {
        await saveBody(request.raw, path, MAX_TAXONOMY_BYTES)
        const startedImport = await db.transaction(async (tx) => {
          const createdImport = await createImport(tx, context.clock, {
            ...request.query,
            startedBy: request.session.email,
          })
          const details = {
            format: createdImport.format,
            file_name: createdImport.file_name,
            dry_run: createdImport.dry_run,
          }
          await recordRequestAudit(tx, context, request, 'catalogue.import', createdImport.import_id, details)
          return createdImport
        })
        void runImport(context, startedImport, path).finally(deleteFolder)
        reply.status(202)
        return successResponse('Import started', importRecord(startedImport))
      } catch (error) {
        await deleteFolder()
        throw error
      }
    },
  )
}
