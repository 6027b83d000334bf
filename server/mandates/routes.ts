import './skill-requests.ts'
import { perform } from '../access/idempotency.ts'
import { skillNumber } from '../catalogue/ids.ts'
import type { Context } from '../context.ts'
import { NoBody } from '../platform/http/body.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { QuickCreation } from './mandate-batch-insert.ts'
import { mandateResult, mandateWithQuestions } from './mandate-record.ts'
import { getMandateAndFlow, listMandates, type Mandate } from './mandate-rows.ts'
import { archiveMandate, createMandate, replaceMandate, retryMandate, type Surroundings } from './mandates.ts'
import {
  MandateInput,
  MandateParams,
  MandateRecord,
  MandateReplacement,
  MandateResult,
  MandatesQuery,
} from './schema.ts'

const ACCEPTED = 'Mandate accepted; its questions are being prepared'

/** Jobs for which candidates are verified. */
export function mandateRoutes(app: App, context: Context): void {
  const { db, clock, vault, catalogue } = context
  const reading = { scope: 'mandates:read', limit: 'reads' } as const
  const writing = { scope: 'mandates:write', limit: 'mandateWrites', idempotent: 'optional' } as const
  const tags = ['Job mandates']
  const quickly = new QuickCreation(db)

  app.post(
    '/mandates',
    {
      config: writing,
      schema: {
        operationId: 'createMandate',
        tags,
        summary: 'Create a job mandate',
        description:
          'Accepted: the mandate is there, and its questions are being prepared, which ends in `ready` or `failed` within moments.',
        body: MandateInput,
        response: { 202: success(MandateResult) },
      },
    },
    async (request, reply): Promise<void> => {
      const surroundings = await surroundingsFor(request.body)
      const made = await quickly.create(request.caller, surroundings, request.body)
      if (made) {
        const { status, body } = accepted(made, true, ACCEPTED)
        return reply.status(status as 202).send(body)
      }
      await perform(context, request, reply, async (tx, caller) => {
        const mandate = await createMandate(tx, caller, surroundings, request.body, caller.via)
        return accepted(mandate, true, ACCEPTED)
      })
    },
  )

  app.get(
    '/mandates',
    {
      config: reading,
      schema: {
        operationId: 'listMandates',
        tags,
        summary: 'Job mandates, newest first',
        querystring: MandatesQuery,
        response: { 200: success(listOf(MandateRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor, ...filter } }) => {
      const { status, workflow_id, job_id } = filter
      const list = `mandates ${caller.orgId} ${caller.mode} ${JSON.stringify([status, workflow_id, job_id])}`
      const after = readCursor<string>(vault, list, cursor)
      const found = await listMandates(db.queries, caller, { ...filter, after, limit: limit + 1 })
      const items = found.slice(0, limit).map(mandateWithQuestions)
      const next_cursor = found.length > limit ? writeCursor(vault, list, items.at(-1)!.mandate_id) : null
      return { success: true as const, message: 'Mandates', data: { items, next_cursor } }
    },
  )

  app.get(
    '/mandates/:mandate_id',
    {
      config: reading,
      schema: {
        operationId: 'getMandate',
        tags,
        summary: 'One job mandate',
        params: MandateParams,
        response: { 200: success(MandateRecord) },
      },
    },
    async ({ caller, params }) => {
      const found = await getMandateAndFlow(db.queries, caller, params.mandate_id)
      return { success: true as const, message: 'Mandate', data: mandateWithQuestions(found) }
    },
  )

  app.put(
    '/mandates/:mandate_id',
    {
      config: writing,
      schema: {
        operationId: 'replaceMandate',
        tags,
        summary: 'Replace a job mandate',
        description:
          'The whole mandate is sent again. The same as before answers 200 and changes nothing. At most 10 changes an hour.',
        params: MandateParams,
        body: MandateReplacement,
        response: { 200: success(MandateResult), 202: success(MandateResult) },
      },
    },
    async (request, reply): Promise<void> => {
      const surroundings = await surroundingsFor(request.body)
      await perform(context, request, reply, async (tx, caller) => {
        const { mandate_id } = request.params
        const { mandate, changed } = await replaceMandate(tx, caller, surroundings, mandate_id, request.body)
        return changed
          ? accepted(mandate, true, 'Change accepted; the questions are being prepared')
          : { status: 200, body: answer(mandate, false, 'Nothing changed') }
      })
    },
  )

  app.post(
    '/mandates/:mandate_id/retry',
    {
      config: writing,
      schema: {
        operationId: 'retryMandate',
        tags,
        summary: 'Prepare a failed mandate again',
        params: MandateParams,
        body: NoBody,
        response: { 202: success(MandateResult) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const mandate = await retryMandate(tx, caller, clock, request.params.mandate_id)
        return accepted(mandate, true, 'The questions are being prepared again')
      })
    },
  )

  app.delete(
    '/mandates/:mandate_id',
    {
      config: writing,
      schema: {
        operationId: 'archiveMandate',
        tags,
        summary: 'Archive a job mandate',
        description: 'Refused while a campaign for it is running. Nothing is erased.',
        params: MandateParams,
        response: { 200: success(MandateResult) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const { mandate, changed } = await archiveMandate(tx, caller, clock, request.params.mandate_id)
        return { status: 200, body: answer(mandate, changed, changed ? 'Mandate archived' : 'Archived before') }
      })
    },
  )

  /** A skill that was added a moment ago may not have reached this process yet; looked up before the transaction begins. */
  async function surroundingsFor({ skills }: MandateReplacement): Promise<Surroundings> {
    await catalogue.learn({
      numbers: skills.map((skill) => ('skill_id' in skill ? skillNumber(skill.skill_id) : undefined)),
    })
    return { clock, skills: catalogue.current, writer: context.writer }
  }
}

function answer(mandate: Mandate, changed: boolean, message: string) {
  return { success: true as const, message, data: mandateResult(mandate, changed) }
}

function accepted(mandate: Mandate, changed: boolean, message: string) {
  return { status: 202, body: answer(mandate, changed, message) }
}
