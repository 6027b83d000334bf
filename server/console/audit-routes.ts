import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Context } from '../context.ts'
import { PageQuery, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { csvCell } from '../platform/text/csv-cell.ts'
import {
  type AuditListOptions,
  type AuditRecord,
  auditCondition,
  entryForOrganisation,
  listAuditEntries,
} from './audit.ts'
import { recordRequestAudit } from './auth/guards.ts'
import { loadMemberNames } from './auth/member-names.ts'
import { countedListOf, countUpToLimit, paginate } from './paginate.ts'
import { AuditEntry, successResponse } from './schema.ts'

/** The subjects of actions that a reader can choose, and the beginnings of the actions. */
const ACTION_PREFIXES = {
  sign_in: ['session.', 'admin_key.'],
  team: ['member.', 'operator.add', 'operator.remove', 'operator.link'],
  keys: ['key.', 'credential_key.', 'POST /keys', 'PUT /keys', 'DELETE /keys'],
  candidates: ['candidates.', 'POST /campaigns', 'DELETE /campaigns', 'PUT /campaigns'],
  jobs: [
    'POST /mandates',
    'PUT /mandates',
    'DELETE /mandates',
    'POST /workflows',
    'PUT /workflows',
    'DELETE /workflows',
  ],
  webhooks: ['POST /webhooks', 'PUT /webhooks', 'DELETE /webhooks', 'POST /events'],
  exports: ['results.export', 'items.export', 'responses.export', 'audit.export'],
  reads: ['operator.read', 'email.', 'rings.'],
} as const

const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })

const AuditFilters = Type.Object({
  actor: Type.Optional(Type.Enum(['operator'])),
  who: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: 'The email address of a person.' })),
  action: Type.Optional(Type.Enum(Object.keys(ACTION_PREFIXES) as (keyof typeof ACTION_PREFIXES)[])),
  subject: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'The ID of a record.' })),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
})
const OrganisationId = Type.Optional(Type.String({ maxLength: 50 }))

const ROWS_PER_QUERY = 500
const CSV_COLUMNS = [
  'at',
  'who',
  'actor',
  'org_id',
  'mode',
  'action',
  'subject',
  'details',
  'address',
  'request_id',
] as const

/** Lists and exports the audit log: that of an organisation for its owners, and all of it for operators. */
export function auditRoutes(app: App, context: Context): void {
  const { db, vault } = context
  const owner = { role: 'owner' } as const
  const operator = { role: 'operator' } as const

  app.get(
    '/orgs/:org/audit',
    {
      config: owner,
      schema: {
        querystring: Type.Object({ ...PageQuery.properties, ...AuditFilters.properties }),
        response: { 200: success(countedListOf(AuditEntry)) },
      },
    },
    async ({ orgAccess: { orgId, role }, query: { limit, cursor, ...filters } }) =>
      successResponse(
        'Audit log',
        await auditPage({ orgId, ...auditFilter(filters) }, { limit, ...(cursor ? { cursor } : {}) }, (entry) =>
          role === 'operator' ? entry : entryForOrganisation(entry),
        ),
      ),
  )

  app.get(
    '/operator/audit',
    {
      config: operator,
      schema: {
        querystring: Type.Object({ ...PageQuery.properties, ...AuditFilters.properties, org_id: OrganisationId }),
        response: { 200: success(countedListOf(AuditEntry)) },
      },
    },
    async ({ query: { limit, cursor, org_id, ...filters } }) =>
      successResponse(
        'Audit log',
        await auditPage(
          { orgId: org_id, ...auditFilter(filters) },
          { limit, ...(cursor ? { cursor } : {}) },
          (entry) => entry,
        ),
      ),
  )

  app.get(
    '/orgs/:org/export/audit.csv',
    { config: { ...owner, recordsRead: true }, schema: { querystring: AuditFilters } },
    async (request, reply) => {
      const { orgId, role } = request.orgAccess
      await db.transaction((tx) =>
        recordRequestAudit(tx, context, request, 'audit.export', undefined, { filters: request.query }),
      )
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="audit-log.csv"')
      const lines = csvLines({ orgId, ...auditFilter(request.query) }, (entry) =>
        role === 'operator' ? entry : entryForOrganisation(entry),
      )
      return reply.send(Readable.from(lines) as never)
    },
  )

  async function auditPage(
    filter: Omit<AuditListOptions, 'before' | 'limit'>,
    page: { limit: number; cursor?: string },
    toItem: (entry: AuditRecord) => AuditRecord,
  ) {
    const resultPage = await paginate(
      vault,
      `changes ${JSON.stringify(Object.entries(filter).sort())}`,
      page,
      (before: string | undefined, limit) => listAuditEntries(db.queries, { ...filter, before, limit }),
      ({ audit_id }) => audit_id,
      toItem,
    )
    const counted =
      page.cursor === undefined
        ? await countUpToLimit(db.queries, sql`audit_log`, auditCondition(filter))
        : { total: null }
    const { orgId } = filter
    const nameOf = orgId
      ? await loadMemberNames(
          db.queries,
          orgId,
          resultPage.items.map(({ who }) => who),
        )
      : () => null // the entries belong to many organisations
    const items = resultPage.items.map((entry) => ({ ...entry, who_name: nameOf(entry.who) }))
    return { ...resultPage, items, ...counted }
  }

  async function* csvLines(
    filter: Omit<AuditListOptions, 'before' | 'limit'>,
    toItem: (entry: AuditRecord) => AuditRecord,
  ) {
    yield `\ufeff${CSV_COLUMNS.join(',')}\r\n`
    let before: string | undefined
    for (;;) {
      const page = await listAuditEntries(db.queries, { ...filter, before, limit: ROWS_PER_QUERY })
      for (const entry of page.map(toItem)) {
        const cells = { ...entry, details: JSON.stringify(entry.details) }
        yield `${CSV_COLUMNS.map((name) => csvCell(cells[name])).join(',')}\r\n`
      }
      if (page.length < ROWS_PER_QUERY) return
      before = page.at(-1)!.audit_id
    }
  }
}

const DAY_MS = 86_400_000
const INDIA_OFFSET = '+05:30'

/** Returns the filter of a query. Days are those of Indian time, and `to` is included. */
function auditFilter({ actor, who, action, subject, from, to }: Static<typeof AuditFilters>) {
  return {
    operatorsOnly: actor === 'operator',
    who,
    subject,
    ...(action === undefined ? {} : { actionPrefixes: ACTION_PREFIXES[action] }),
    ...(from === undefined ? {} : { from: new Date(`${from}T00:00:00${INDIA_OFFSET}`) }),
    ...(to === undefined ? {} : { to: new Date(Date.parse(`${to}T00:00:00${INDIA_OFFSET}`) + DAY_MS) }),
  }
}
