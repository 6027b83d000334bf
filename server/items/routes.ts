import { runIdempotent } from '../access/idempotency.ts'
import { invalid } from '../api/invalid.ts'
import { skillNumber } from '../catalogue/ids.ts'
import type { Context } from '../context.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { importItems, readItemFile } from './exchange/import.ts'
import { deleteItem, itemRecord, listItemSkills, listItems } from './items.ts'
import { ItemImport, ItemImportBody, ItemParams, ItemRecord, ItemSkillList, ItemsQuery } from './schema.ts'

/** Routes for the question bank of an organisation, which both modes share. No route returns the text of an item. */
export function itemRoutes(app: App, context: Context): void {
  const { db, clock, vault } = context
  const readConfig = { scope: 'items:read', limit: 'reads', readsReplica: true } as const
  const writeConfig = { scope: 'items:write', limit: 'itemWrites', idempotent: 'optional' } as const
  const tags = ['Items']

  app.get(
    '/items',
    {
      config: readConfig,
      schema: {
        operationId: 'listItems',
        tags,
        summary: 'List items',
        description:
          'Returns the items of the organisation with their statistics, in the order of their IDs. TEST and LIVE keys see the same items. The texts of items are never returned.',
        querystring: ItemsQuery,
        response: { 200: success(listOf(ItemRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor, skill_id, status } }) => {
      const listKey = `items ${caller.orgId} ${skill_id ?? ''} ${status ?? ''}`
      const after = readCursor<string>(vault, listKey, cursor)
      const filter = { skillNumber: skill_id && skillNumber(skill_id), status, after, limit: limit + 1 }
      const rows = await listItems(db.queries, caller.orgId, filter as Parameters<typeof listItems>[2])
      const items = rows.slice(0, limit).map((row) => itemRecord(vault, row))
      const next_cursor = rows.length > limit ? writeCursor(vault, listKey, items.at(-1)!.item_id) : null
      return { success: true as const, message: 'Items', data: { items, next_cursor } }
    },
  )

  app.get(
    '/items/skills',
    {
      config: readConfig,
      schema: {
        operationId: 'listItemSkills',
        tags,
        summary: 'List skills with items',
        description: 'Returns the number of items of each skill for which the organisation has items.',
        response: { 200: success(ItemSkillList) },
      },
    },
    async ({ caller }) => ({
      success: true as const,
      message: 'Skills with items',
      data: { items: await listItemSkills(db.queries, caller.orgId) },
    }),
  )

  app.post(
    '/items/import',
    {
      config: writeConfig,
      schema: {
        operationId: 'importItems',
        tags,
        summary: 'Import items',
        description:
          'Imports items from a CSV file or in QTI 3.0: all of them, or none if there is an error. An item with an ID that exists replaces the existing item. Send either `content` or `content_base64`. Import larger files in the console or with `attestry items import`.',
        body: ItemImportBody,
        response: { 200: success(ItemImport) },
      },
    },
    async (request, reply): Promise<void> => {
      const { file_name = 'items', skill_id, dry_run = false } = request.body
      const itemFile = { name: file_name, bytes: readContent(request.body), skill: skill_id }
      // A large file takes long, so it is read before the transaction. Its errors are thrown in the transaction, so that they are stored
      // with the Idempotency-Key as any other response.
      const [reading] = await Promise.allSettled([readItemFile(db.queries, itemFile)])
      await runIdempotent(context, request, reply, async (tx, caller) => {
        if (reading.status === 'rejected') throw reading.reason
        const file = reading.value
        const summary = await importItems(tx, { vault, clock }, caller.orgId, file, { dryRun: dry_run })
        const message = dry_run ? 'Items checked, nothing was changed' : 'Items imported'
        return { status: 200, body: { success: true as const, message, data: { dry_run, ...summary } } }
      })
    },
  )

  app.delete(
    '/items/:item_id',
    {
      config: writeConfig,
      schema: {
        operationId: 'deleteItem',
        tags,
        summary: 'Delete an item',
        description:
          'Deletes the item and its statistics. Existing mandates do not ask it any more. Anonymous responses to it remain.',
        params: ItemParams,
        response: { 200: success(ItemRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const row = await deleteItem(tx, clock, caller.orgId, request.params.item_id)
        return {
          status: 200,
          body: { success: true as const, message: 'Item deleted', data: itemRecord(vault, row) },
        }
      })
    },
  )
}

function readContent({ content, content_base64 }: ItemImportBody): Buffer {
  if ((content === undefined) === (content_base64 === undefined))
    throw invalid([{ path: 'content', message: 'send either content or content_base64' }])
  if (content !== undefined) return Buffer.from(content)
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(content_base64!))
    throw invalid([
      {
        path: 'content_base64',
        message: 'must be base64 without line breaks, with the characters A to Z, a to z, 0 to 9, + and /',
      },
    ])
  return Buffer.from(content_base64!, 'base64')
}
