import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { NoBody } from '../../platform/http/body.ts'
import type { App } from '../../platform/http/server.ts'
import { type CatalogueImport, countImports, listImports } from '../import/import-records.ts'
import { ImportParams, ImportUndoEffects, TaxonomyImport } from '../import/schema.ts'
import { describeUndo, undoAuditDetails, undoImport, undoRecord } from '../import/undo.ts'
import { ADMIN_KEY_NAME, requireAdmin } from './admin-key.ts'
import { pageWindow } from './page-numbers.ts'
import { PageQuery, paginatedResponse, singleResponse } from './schema.ts'
import { adminChangeMade } from './skill-admin-routes.ts'

/** Routes with which the operator lists and undoes imports of taxonomies. They require the admin key. */
export function importAdminRoutes(app: App, context: Context): void {
  const { db, clock, catalogue } = context
  const sharedOptions = {
    config: { visitors: 'other' },
    onRequest: (request: FastifyRequest) => requireAdmin(context, request),
  } as const
  const sharedSchema = { tags: ['Admin'], security: [{ admin: [] }] }
  const errors = ['NOT_FOUND', 'CONFLICT'] as const

  app.get(
    '/admin/imports',
    {
      ...sharedOptions,
      schema: {
        ...sharedSchema,
        operationId: 'listImports',
        summary: 'List imports of taxonomies',
        description: 'Returns the imports of the console and the command line, newest first.',
        querystring: PageQuery,
        response: { 200: paginatedResponse(TaxonomyImport) },
      },
    },
    async ({ query }) => {
      const count = await countImports(db.queries)
      const imports = await listImports(db.queries, clock, pageWindow(query, count))
      return { data: imports.map(taxonomyImport), page: query.page, limit: query.limit, count }
    },
  )

  app.get(
    '/admin/imports/:import_id/undo',
    {
      ...sharedOptions,
      config: { ...sharedOptions.config, errors },
      schema: {
        ...sharedSchema,
        operationId: 'getImportUndoEffects',
        summary: 'Get the effects of undoing an import',
        description:
          'Returns the effects of undoing the import, without undoing it. Fails with 409 if it cannot be undone.',
        params: ImportParams,
        response: { 200: singleResponse(ImportUndoEffects) },
      },
    },
    async ({ params }) => ({
      success: true as const,
      message: 'Effects of the undo',
      data: undoRecord(await describeUndo(db.queries, params.import_id)),
    }),
  )

  app.post(
    '/admin/imports/:import_id/undo',
    {
      ...sharedOptions,
      config: { ...sharedOptions.config, errors },
      schema: {
        ...sharedSchema,
        operationId: 'undoImport',
        summary: 'Undo an import',
        description:
          'Restores the values that the import changed, and withdraws the skills that it added: searches and lists no longer return them, and their IDs stay valid. Changes that operators made since are kept. Only the latest import that has not been undone can be undone; otherwise, and if a restored name belongs to another skill now, the request fails with 409 and changes nothing. Returns the effects.',
        params: ImportParams,
        body: NoBody,
        response: { 200: singleResponse(ImportUndoEffects) },
      },
    },
    async (request) => {
      const { import_id } = request.params
      const effects = await db.transaction(async (tx) => {
        const effects = await undoImport(tx, clock, import_id, ADMIN_KEY_NAME)
        await adminChangeMade.run(tx, clock, {
          action: 'catalogue.undo_import',
          subject: import_id,
          details: undoAuditDetails(effects),
          requestId: request.id,
          address: request.ip,
          userAgent: request.headers['user-agent'],
        })
        return effects
      })
      await catalogue.refreshAfterChange()
      return { success: true as const, message: 'Import undone', data: undoRecord(effects) }
    },
  )
}

function taxonomyImport(row: CatalogueImport) {
  const { import_id, format, file_name, dry_run, status, summary, started_by, started_at, ended_at } = row
  const countOf = (name: string) => (typeof summary?.[name] === 'number' ? summary[name] : null)
  return {
    import_id,
    format,
    file_name,
    dry_run,
    status,
    started_by,
    started_at: started_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
    added: countOf('added'),
    changed: countOf('changed'),
    merged: countOf('merged'),
    undone_at: row.undone_at?.toISOString() ?? null,
    undone_by: row.undone_by,
    can_undo: row.can_undo,
  }
}
