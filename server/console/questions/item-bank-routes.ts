import { Type } from 'typebox'
import { skillId, skillNumber } from '../../catalogue/ids.ts'
import type { Context } from '../../context.ts'
import { importItems, readItemFile } from '../../items/exchange/import.ts'
import { EXPORT_FORMATS, exportItems, findSkillsOnPublicBank } from '../../items/items.ts'
import { ItemImport } from '../../items/schema.ts'
import { readRawBody } from '../../platform/http/body.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { declaredBytes } from '../../platform/http/uploads.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { ItemSources } from '../organisation/schema.ts'
import { successResponse } from '../schema.ts'

const MAX_ITEM_FILE_BYTES = 8 * 1024 * 1024

const SkillId = Type.String({ pattern: '^sk_[1-9][0-9]{0,8}$' })
const UploadQuery = Type.Object({
  file_name: Type.String({ minLength: 1, maxLength: 200 }),
  skill_id: Type.Optional(SkillId),
  dry_run: Type.Boolean({ default: false }),
})
const ExportQuery = Type.Object({ format: Type.Enum([...EXPORT_FORMATS]), skill_id: Type.Optional(SkillId) })
const SourcesQuery = Type.Object({ skill_ids: Type.String({ maxLength: 1000, pattern: '^sk_[0-9]+(,sk_[0-9]+)*$' }) })

/** Routes for the question bank of an organisation that the partner API does not have. */
export function itemBankRoutes(app: App, context: Context): void {
  const { db, vault, clock, uploads } = context

  app.post(
    '/orgs/:org/:mode/items/upload',
    {
      config: { role: 'owner', upload: true },
      schema: { querystring: UploadQuery, response: { 200: success(ItemImport) } },
    },
    async (request, reply) => {
      const { orgAccess, query, session } = request
      const { file_name, skill_id, dry_run } = query
      const size = declaredBytes(request.headers, MAX_ITEM_FILE_BYTES)
      if (size <= MAX_ITEM_FILE_BYTES)
        uploads.reserve({ uploader: session.sessionId, orgId: orgAccess.orgId, bytes: size }, reply.raw)
      const bytes = await readRawBody(request.raw, MAX_ITEM_FILE_BYTES)
      const file = await readItemFile(db.queries, { name: file_name, bytes, skill: skill_id })
      const summary = await db.transaction(async (tx) => {
        const imported = await importItems(tx, { vault, clock }, orgAccess.orgId, file, { dryRun: dry_run })
        const { warnings: _, skills, ...counts } = imported
        const details = { ...counts, skills: skills.map((skill) => skill.skill_id).slice(0, 100) }
        if (!dry_run) await recordRequestAudit(tx, context, request, 'items.import', undefined, details)
        return imported
      })
      return successResponse(dry_run ? 'Items checked' : 'Items imported', { dry_run, ...summary })
    },
  )

  app.get(
    '/orgs/:org/:mode/items/export',
    // The only response with the texts and keys of items.
    { config: { role: 'owner', membersOnly: true, recordsRead: true }, schema: { querystring: ExportQuery } },
    async (request, reply) => {
      const { format, skill_id } = request.query
      const file = await exportItems(db.queries, vault, request.orgAccess.orgId, {
        format,
        skillNumber: skill_id === undefined ? undefined : skillNumber(skill_id),
      })
      const details = { format, items: file.items, ...(skill_id ? { skill_id } : {}) }
      await db.transaction((tx) => recordRequestAudit(tx, context, request, 'items.export', undefined, details))
      reply
        .type(file.mediaType)
        .header('content-disposition', `attachment; filename="${file.fileName}"`)
        .header('cache-control', 'no-store')
      return reply.send(file.content as never)
    },
  )

  app.get(
    '/orgs/:org/:mode/item-sources',
    { config: { role: 'viewer' }, schema: { querystring: SourcesQuery, response: { 200: success(ItemSources) } } },
    async ({ orgAccess, query }) => {
      const numbers = query.skill_ids
        .split(',')
        .map(skillNumber)
        .filter((number) => number !== undefined)
      // An AI writer writes questions for the organisation, which are not public.
      const publicSkills =
        context.writer.kind === 'ai' ? [] : await findSkillsOnPublicBank(db.queries, orgAccess.orgId, numbers)
      return successResponse('Sources of questions', { public_bank_skill_ids: publicSkills.map(skillId) })
    },
  )
}
