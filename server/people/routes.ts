import type { FastifyRequest } from 'fastify'
import type { Caller } from '../access/caller.ts'
import { runIdempotent } from '../access/idempotency.ts'
import type { Detail } from '../api/problem.ts'
import { phoneError } from '../campaigns/phone-number.ts'
import type { Context } from '../context.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { linkErrors } from '../platform/text/links.ts'
import { personAudited } from './audit.ts'
import { correctPerson } from './correction.ts'
import { erasePerson } from './erasure.ts'
import { exportPerson } from './export.ts'
import { renderExport } from './export-html.ts'
import { findPeople, findRecordIds, getPerson, type Person, personRecord, refOf } from './people.ts'
import { liftRestriction, restrictPerson } from './restriction.ts'
import {
  CorrectionBody,
  ErasureBody,
  ExportQuery,
  PeopleQuery,
  PersonExportRecord,
  PersonList,
  PersonParams,
  PersonRecord,
  RequestBody,
} from './schema.ts'

/** Routes of the partner API for the rights of people: find, export, correct, restrict, erase. */
export function peopleRoutes(app: App, context: Context): void {
  const { db } = context
  const readAccess = { scope: 'people:read', limit: 'reads' } as const
  const writeAccess = { scope: 'people:write', limit: 'mandateWrites', idempotent: 'optional' } as const
  const tags = ['People']

  app.get(
    '/people',
    {
      config: { ...readAccess, extraValidation: requireOneAddress },
      schema: {
        operationId: 'findPeople',
        tags,
        summary: 'Find people by phone number or email address',
        description:
          'Returns the people who have this phone number or mailbox: candidates, students and reviewers; at most 100, the oldest first. Erased people are not found.',
        querystring: PeopleQuery,
        response: { 200: success(PersonList) },
      },
    },
    async ({ caller, query, id }) => {
      const people = await findPeople(db.queries, caller, query)
      const items: ReturnType<typeof personRecord>[] = []
      for (const person of people) items.push(await recordOf(db.queries, person))
      await db.transaction((tx) =>
        audit(tx, caller, id, 'person.find', undefined, { found: items.map(({ person_id }) => person_id) }),
      )
      return { success: true as const, message: 'People', data: { items } }
    },
  )

  app.get(
    '/people/:person_id',
    {
      config: readAccess,
      schema: {
        operationId: 'getPerson',
        tags,
        summary: 'Get a person',
        description: 'Returns the IDs of all records of a person. The personal values are in the export.',
        params: PersonParams,
        response: { 200: success(PersonRecord) },
      },
    },
    async ({ caller, params }) =>
      personResponse('Person', await recordOf(db.queries, await getPerson(db.queries, caller, params.person_id))),
  )

  app.get(
    '/people/:person_id/export',
    {
      config: readAccess,
      schema: {
        operationId: 'exportPerson',
        tags,
        summary: 'Export the data of a person',
        description: 'Returns everything that is held about a person, as JSON or as a page that the person can read.',
        params: PersonParams,
        querystring: ExportQuery,
        response: { 200: success(PersonExportRecord) },
      },
    },
    async ({ caller, params, query, id }) => {
      const exported = await exportPerson(db.queries, context, await getPerson(db.queries, caller, params.person_id))
      const { person, exported_at, sections } = exported
      await db.transaction((tx) =>
        audit(tx, caller, id, 'person.export', params.person_id, { format: query.format ?? 'json' }),
      )
      const content = query.format === 'html' ? { html: renderExport(exported) } : { sections }
      return { success: true as const, message: 'Data of the person', data: { person, exported_at, ...content } }
    },
  )

  app.patch(
    '/people/:person_id',
    {
      config: { ...writeAccess, extraValidation: requireCorrection, recentSignIn: true },
      schema: {
        operationId: 'correctPerson',
        tags,
        summary: 'Correct a person',
        description:
          'Replaces the name, the phone number or the email address in all records of the person. An address is replaced where the record has one, and not added to the others. Events that were recorded before stay as they were.',
        params: PersonParams,
        body: CorrectionBody,
        response: { 200: success(PersonRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      const { basis, requested_by, ...correction } = request.body
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const person = await correctPerson(tx, context, caller, request.params.person_id, correction)
        await audit(tx, caller, request.id, 'person.correct', person.person_id, {
          fields: Object.keys(correction),
          ...reasonOf({ basis, requested_by }),
        })
        return { status: 200, body: personResponse('Person corrected', await recordOf(tx, person)) }
      })
    },
  )

  app.post(
    '/people/:person_id/restrict',
    {
      config: writeAccess,
      schema: {
        operationId: 'restrictPerson',
        tags,
        summary: 'Restrict the processing of the data of a person',
        description:
          'The person is not contacted, and their replies are not processed, until the restriction is lifted. An opt-out is still accepted.',
        params: PersonParams,
        body: RequestBody,
        response: { 200: success(PersonRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const person = await restrictPerson(tx, context, caller, request.params.person_id)
        await audit(tx, caller, request.id, 'person.restrict', person.person_id, reasonOf(request.body))
        return { status: 200, body: personResponse('Processing restricted', await recordOf(tx, person)) }
      })
    },
  )

  app.post(
    '/people/:person_id/unrestrict',
    {
      config: writeAccess,
      schema: {
        operationId: 'liftRestriction',
        tags,
        summary: 'Lift the restriction of a person',
        description: 'Contacts that became due in the meantime are made now.',
        params: PersonParams,
        body: RequestBody,
        response: { 200: success(PersonRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const person = await liftRestriction(tx, context, caller, request.params.person_id)
        await audit(tx, caller, request.id, 'person.unrestrict', person.person_id, reasonOf(request.body))
        return { status: 200, body: personResponse('Restriction lifted', await recordOf(tx, person)) }
      })
    },
  )

  app.post(
    '/people/:person_id/erase',
    {
      config: { ...writeAccess, recentSignIn: true },
      schema: {
        operationId: 'erasePerson',
        tags,
        summary: 'Erase a person',
        description:
          'Ends all conversations, sessions and reviews of the person, revokes their credentials, and deletes the key that their values are encrypted with. Results, counts, credits and events stay, with `erased` in place of the values. This cannot be undone. Erasing a person again changes nothing.',
        params: PersonParams,
        body: ErasureBody,
        response: { 200: success(PersonRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      const { basis, requested_by: requestedBy } = request.body
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { person_id } = request.params
        const before = await getPerson(tx, caller, person_id)
        const person = await erasePerson(tx, context, caller, person_id, { basis, requestedBy })
        if (before.erased_at === null)
          await audit(tx, caller, request.id, 'person.erase', person_id, { basis, requested_by: requestedBy })
        return { status: 200, body: personResponse('Person erased', await recordOf(tx, person)) }
      })
    },
  )

  async function audit(
    tx: Tx,
    { orgId, mode, keyId }: Caller,
    requestId: string,
    action: string,
    subject: string | undefined,
    details: object,
  ): Promise<void> {
    await personAudited.run(tx, context.clock, {
      scope: { orgId, mode },
      who: keyId,
      action,
      subject,
      details,
      requestId,
    })
  }
}

function reasonOf({ basis, requested_by }: { basis?: string | undefined; requested_by?: string | undefined }) {
  return { ...(basis === undefined ? {} : { basis }), ...(requested_by === undefined ? {} : { requested_by }) }
}

async function recordOf(queries: Queries, person: Person) {
  return personRecord(person, await findRecordIds(queries, refOf(person)))
}

function personResponse(message: string, data: ReturnType<typeof personRecord>) {
  return { success: true as const, message, data }
}

function requireOneAddress(_context: Context, { query }: FastifyRequest): Detail[] {
  const { phone, email } = query as { phone?: unknown; email?: unknown }
  if ((phone === undefined) !== (email === undefined)) return []
  return [{ path: 'query', message: 'must contain either phone or email' }]
}

function requireCorrection(_context: Context, { body }: FastifyRequest): Detail[] {
  const { name, phone, email } = (body ?? {}) as Record<string, unknown>
  if (name === undefined && phone === undefined && email === undefined)
    return [{ path: 'body', message: 'must contain name, phone or email' }]
  const message = phoneError(phone)
  return [...linkErrors([['name', name]]), ...(message === undefined ? [] : [{ path: 'phone', message }])]
}
