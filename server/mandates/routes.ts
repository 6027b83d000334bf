import { runIdempotent } from '../access/idempotency.ts'
import { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { skillForOrganisation } from '../catalogue/skill-json.ts'
import type { SnapshotSkill } from '../catalogue/snapshot.ts'
import type { Context } from '../context.ts'
import { findOwnMeasurableSkills } from '../items/item-store.ts'
import { NoBody } from '../platform/http/body.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { languagesOf } from '../questions/skill-items.ts'
import { MandateBatchInserter } from './mandate-batch-insert.ts'
import { fullMandateRecordFromJson, mandateResult } from './mandate-record.ts'
import { getMandateAndFlow, listMandates, type Mandate } from './mandate-rows.ts'
import { archiveMandate, createMandate, type MandateDeps, replaceMandate, retryMandate } from './mandates.ts'
import {
  MandateInput,
  MandateParams,
  MandateRecord,
  MandateReplacement,
  MandateResult,
  MandatesQuery,
} from './schema.ts'

const ACCEPTED_MESSAGE = 'Mandate accepted; its questions are being prepared'

/** Routes of job mandates. */
export function mandateRoutes(app: App, context: Context): void {
  const { db, clock, vault, catalogue } = context
  const readConfig = { scope: 'mandates:read', limit: 'reads', readsReplica: true } as const
  const writeConfig = { scope: 'mandates:write', limit: 'mandateWrites', idempotent: 'optional' } as const
  const tags = ['Job mandates']
  const batchInserter = new MandateBatchInserter(db)

  app.post(
    '/mandates',
    {
      config: { ...writeConfig, errors: ['NOT_FOUND', 'CONFLICT', 'LIMIT_EXCEEDED'] },
      schema: {
        operationId: 'createMandate',
        tags,
        summary: 'Create a job mandate',
        description:
          'Stores the mandate and starts preparing its questions. The status becomes `ready` when the questions are prepared, or `failed` if they cannot be prepared.',
        body: MandateInput,
        response: { 202: success(MandateResult) },
      },
    },
    async (request, reply): Promise<void> => {
      const deps = await loadDeps(request.caller.orgId, request.body)
      const insertedMandate = await batchInserter.create(request.caller, deps, request.body)
      if (insertedMandate) {
        const { status, body } = acceptedResponse(insertedMandate, true, ACCEPTED_MESSAGE)
        return reply.status(status as 202).send(body)
      }
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const mandate = await createMandate(tx, caller, deps, request.body, caller.via)
        return acceptedResponse(mandate, true, ACCEPTED_MESSAGE)
      })
    },
  )

  app.get(
    '/mandates',
    {
      config: readConfig,
      schema: {
        operationId: 'listMandates',
        tags,
        summary: 'List job mandates',
        description: 'Returns mandates, newest first.',
        querystring: MandatesQuery,
        response: { 200: success(listOf(MandateRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor, ...filter } }) => {
      const { status, workflow_id, job_id } = filter
      const listKey = `mandates ${caller.orgId} ${caller.mode} ${JSON.stringify([status, workflow_id, job_id])}`
      const after = readCursor<string>(vault, listKey, cursor)
      const rows = await listMandates(db.queries, caller, { ...filter, after, limit: limit + 1 })
      const items = rows.slice(0, limit).map(fullMandateRecordFromJson)
      const next_cursor = rows.length > limit ? writeCursor(vault, listKey, items.at(-1)!.mandate_id) : null
      return { success: true as const, message: 'Mandates', data: { items, next_cursor } }
    },
  )

  app.get(
    '/mandates/:mandate_id',
    {
      config: readConfig,
      schema: {
        operationId: 'getMandate',
        tags,
        summary: 'Get a job mandate',
        params: MandateParams,
        response: { 200: success(MandateRecord) },
      },
    },
    async ({ caller, params }) => {
      const mandateAndFlow = await getMandateAndFlow(db.queries, caller, params.mandate_id)
      return { success: true as const, message: 'Mandate', data: fullMandateRecordFromJson(mandateAndFlow) }
    },
  )

  app.put(
    '/mandates/:mandate_id',
    {
      config: { ...writeConfig, errors: ['CONFLICT', 'LIMIT_EXCEEDED'] },
      schema: {
        operationId: 'replaceMandate',
        tags,
        summary: 'Replace a job mandate',
        description:
          'Send the complete mandate. Returns 200 if the mandate did not change. A mandate can be changed at most 10 times per hour.',
        params: MandateParams,
        body: MandateReplacement,
        response: { 200: success(MandateResult), 202: success(MandateResult) },
      },
    },
    async (request, reply): Promise<void> => {
      const deps = await loadDeps(request.caller.orgId, request.body)
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { mandate_id } = request.params
        const { mandate, changed } = await replaceMandate(tx, caller, deps, mandate_id, request.body)
        return changed
          ? acceptedResponse(mandate, true, 'Change accepted; the questions are being prepared')
          : { status: 200, body: writeResponse(mandate, false, 'Nothing changed') }
      })
    },
  )

  app.post(
    '/mandates/:mandate_id/retry',
    {
      config: writeConfig,
      schema: {
        operationId: 'retryMandate',
        tags,
        summary: 'Retry a failed job mandate',
        description: 'Prepares the questions of the same `flow_version` again.',
        params: MandateParams,
        body: NoBody,
        response: { 202: success(MandateResult) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const mandate = await retryMandate(tx, caller, clock, request.params.mandate_id)
        return acceptedResponse(mandate, true, 'The questions of the mandate are being prepared again')
      })
    },
  )

  app.delete(
    '/mandates/:mandate_id',
    {
      config: { ...writeConfig, errors: ['CONFLICT'] },
      schema: {
        operationId: 'archiveMandate',
        tags,
        summary: 'Archive a job mandate',
        description:
          'Archiving is permanent, and no data is deleted. Fails with 409 while a campaign for the mandate is neither completed nor archived.',
        params: MandateParams,
        response: { 200: success(MandateResult) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { mandate, changed } = await archiveMandate(tx, caller, clock, request.params.mandate_id)
        return { status: 200, body: writeResponse(mandate, changed, changed ? 'Mandate archived' : 'Already archived') }
      })
    },
  )

  /** Loads the skills before the transaction starts. */
  async function loadDeps(orgId: string, { skills }: MandateReplacement): Promise<MandateDeps> {
    const ids = skills.flatMap((skill) => ('skill_id' in skill ? [skill.skill_id] : []))
    const loadedSkills = await catalogue.load({ ids })
    const verifiedSkills = skills.flatMap((skill) => ('skill_id' in skill && skill.verify ? [skill.skill_id] : []))
    const needsOwnItems = verifiedSkills.some((id) => loadedSkills.byId(id)?.verifiable === false)
    const ownSkills = needsOwnItems ? await findOwnMeasurableSkills(context.db.queries, orgId) : new Set<number>()
    const forOrganisation = (skill: SnapshotSkill | undefined) => skill && skillForOrganisation(skill, ownSkills)
    const skillsOfOrganisation = new LoadedSkills({ skill: (number) => forOrganisation(loadedSkills.skill(number)) })
    const bank = await loadBank()
    const privateSkills = context.ownSkills.of(orgId)
    const bankLanguagesOf = (number: number) => {
      if (privateSkills.has(number)) return undefined
      const merged = loadedSkills.skill(number)?.merged ?? []
      const numbers = [number, ...merged.map((skill) => skill.number)].filter((each) => bank.has(each))
      return numbers.length === 1
        ? bank.languagesOf(numbers[0]!)
        : languagesOf(numbers.flatMap((each) => bank.itemsOf(each)))
    }
    return { clock, skills: skillsOfOrganisation, writer: context.writer, bankLanguagesOf }
  }
}

function writeResponse(mandate: Mandate, changed: boolean, message: string) {
  return { success: true as const, message, data: mandateResult(mandate, changed) }
}

function acceptedResponse(mandate: Mandate, changed: boolean, message: string) {
  return { status: 202, body: writeResponse(mandate, changed, message) }
}
