import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import type { Language } from '../platform/text/languages.ts'
import type { CreatedVia, Method } from '../workflows/enums.ts'
import { type MandateBody, parseStoredBody } from './body.ts'
import type { MandateStatus } from './schema.ts'

export interface Mandate {
  mandate_id: string
  org_id: string
  mode: 'test' | 'live'
  workflow_id: string
  job_id: string | null
  status: MandateStatus
  flow_version: number
  version: number
  methods: Method[]
  body: MandateBody
  warnings: string[]
  failure: string | null
  created_via: CreatedVia
  created_at: Date
  updated_at: Date
}

export async function findMandate(tx: Queries, scope: OrgScope, id: string): Promise<Mandate | undefined> {
  const row = await mandatesOf(tx, scope).where('mandate_id', '=', id).executeTakeFirst()
  return row && mandateFromRow(row)
}

export async function getMandate(tx: Queries, scope: OrgScope, id: string): Promise<Mandate> {
  return (await findMandate(tx, scope, id)) ?? throwNotFound(id)
}

/** Locks the mandate in share mode: it cannot change or be archived before the transaction ends. */
export async function shareLockMandate(tx: Tx, scope: OrgScope, id: string): Promise<Mandate | undefined> {
  const row = await mandatesOf(tx, scope).where('mandate_id', '=', id).forShare().executeTakeFirst()
  return row && mandateFromRow(row)
}

export interface MandateFilter {
  status?: MandateStatus | undefined
  workflow_id?: string | undefined
  job_id?: string | undefined
  /** ID of the last mandate on the previous page. */
  after?: string | undefined
  limit: number
}

/** Lists mandates, newest first, each with the flow of its `flow_version` as JSON. */
export async function listMandates(
  tx: Queries,
  scope: OrgScope,
  { status, workflow_id, job_id, after, limit }: MandateFilter,
): Promise<{ mandate: Mandate; flow: string | null }[]> {
  const rows = await withFlows(tx, scope)
    .$if(status !== undefined, (query) => query.where('mandates.status', '=', status!))
    .$if(workflow_id !== undefined, (query) => query.where('mandates.workflow_id', '=', workflow_id!))
    .$if(job_id !== undefined, (query) => query.where('mandates.job_id', '=', job_id!))
    .$if(after !== undefined, (query) => query.where('mandates.mandate_id', '<', after!))
    .orderBy('mandates.mandate_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ flow, ...row }) => ({ mandate: mandateFromRow(row), flow }))
}

export async function getMandateAndFlow(
  tx: Queries,
  scope: OrgScope,
  id: string,
): Promise<{ mandate: Mandate; flow: string | null }> {
  const rowWithFlow = await withFlows(tx, scope).where('mandates.mandate_id', '=', id).executeTakeFirst()
  if (!rowWithFlow) return throwNotFound(id)
  const { flow, ...row } = rowWithFlow
  return { mandate: mandateFromRow(row), flow }
}

export interface MandateTitle {
  mandate_id: string
  title: string
  company_name: string
}

/**
 * Titles by mandate and version. Reading them from the stored JSON takes most of the time of a list with many mandates; a version of a
 * mandate does not change.
 */
const titleCache = new BoundedMap<string, MandateTitle>(20_000)

/** Lists the mandates that are ready, newest first; only those with the given IDs unless `ids` is null. */
export async function listReadyMandates(
  queries: Queries,
  { orgId, mode }: OrgScope,
  { ids, limit }: { ids: string[] | null; limit: number },
): Promise<MandateTitle[]> {
  const { rows } = await sql<{ mandate_id: string; version: number }>`
    select mandate_id, version from mandates
    where org_id = ${orgId} and mode = ${mode} and status = 'ready' and (${ids}::text[] is null or mandate_id = any (${ids}::text[]))
    order by mandate_id desc limit ${limit}`.execute(queries)
  const titles = rows.map((row) => titleCache.get(titleKey(row)))
  const missing = rows.filter((_, index) => titles[index] === undefined)
  if (missing.length === 0) return titles as MandateTitle[]
  const loadedTitles = await findMandateTitles(
    queries,
    missing.map(({ mandate_id }) => mandate_id),
  )
  return rows.flatMap(({ mandate_id }, index) => titles[index] ?? loadedTitles.get(mandate_id) ?? [])
}

/** Returns the titles of mandates, whatever their status, by the ID of the mandate. */
export async function findMandateTitles(queries: Queries, mandateIds: string[]): Promise<Map<string, MandateTitle>> {
  const { rows } = await sql<MandateTitle & { version: number }>`
    select mandate_id, version, body::json ->> 'title' as title, body::json ->> 'company_name' as company_name
    from mandates where mandate_id = any (${mandateIds}::text[])`.execute(queries)
  const titles = new Map<string, MandateTitle>()
  for (const { version, ...title } of rows) {
    titleCache.set(titleKey({ mandate_id: title.mandate_id, version }), title)
    titles.set(title.mandate_id, title)
  }
  return titles
}

function titleKey({ mandate_id, version }: { mandate_id: string; version: number }): string {
  return `${mandate_id} ${version}`
}

/** Returns those of the IDs that are mandates of the organisation and mode. */
export async function findMandateIds(queries: Queries, { orgId, mode }: OrgScope, ids: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ mandate_id: string }>`
    select mandate_id from mandates where mandate_id = any (${ids}::text[]) and org_id = ${orgId} and mode = ${mode}`.execute(
    queries,
  )
  return new Set(rows.map(({ mandate_id }) => mandate_id))
}

export interface LockedMandate {
  current: Mandate
  /** Stored request bodies; input that equals one of them changes nothing. */
  storedBodies: string[]
  /** Times of recent changes of the mandate, oldest first. */
  changes: Date[]
  workflow: { default_methods: Method[]; languages: Language[] }
}

/** Locks the mandate for a change. */
export async function lockMandate(tx: Tx, { orgId, mode }: OrgScope, id: string): Promise<LockedMandate> {
  const joinedRow = await tx
    .selectFrom('mandates')
    .innerJoin('workflows', 'workflows.workflow_id', 'mandates.workflow_id')
    .select([...mandateColumns, 'accepted_body', 'changes', 'default_methods', 'languages'])
    .where('mandate_id', '=', id)
    .where('mandates.org_id', '=', orgId)
    .where('mandates.mode', '=', mode)
    .forUpdate('mandates')
    .executeTakeFirst()
  if (!joinedRow) return throwNotFound(id)
  const { accepted_body, changes, default_methods, languages, ...row } = joinedRow
  return {
    current: mandateFromRow(row),
    storedBodies: accepted_body === null ? [row.body] : [row.body, accepted_body],
    changes: changes as Date[],
    workflow: { default_methods: default_methods as Method[], languages: languages as Language[] },
  }
}

export async function updateMandate(tx: Tx, id: string, change: object): Promise<Mandate> {
  const row = await tx
    .updateTable('mandates')
    .set({ ...change, version: sql`version + 1` })
    .where('mandate_id', '=', id)
    .returning(mandateColumns)
    .executeTakeFirstOrThrow()
  return mandateFromRow(row)
}

/** Counts the mandates of each workflow, without archived ones. Triggers maintain the counters, so the mandates are not read. */
export async function countMandates(tx: Queries, workflowIds: string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ workflow_id: string; count: number }>`
    select workflow_id, sum(mandates)::int as count from workflow_mandate_counts
    where workflow_id = any (${workflowIds}::text[]) group by workflow_id`.execute(tx)
  return new Map(rows.map(({ workflow_id, count }) => [workflow_id, count]))
}

export const mandateColumns = [
  'mandates.mandate_id',
  'mandates.org_id',
  'mandates.mode',
  'mandates.workflow_id',
  'mandates.job_id',
  'mandates.status',
  'mandates.flow_version',
  'mandates.version',
  'mandates.methods',
  'mandates.body',
  'mandates.warnings',
  'mandates.language_warnings',
  'mandates.failure',
  'mandates.created_via',
  'mandates.created_at',
  'mandates.updated_at',
] as const

export interface MandateRow extends Omit<Mandate, 'status' | 'methods' | 'body' | 'created_via' | 'mode'> {
  mode: string
  status: string
  methods: string[]
  body: string
  created_via: string
  language_warnings: string[]
}

export function mandateFromRow({ body, warnings, language_warnings, ...row }: MandateRow): Mandate {
  const methods = row.methods as Method[]
  return { ...row, body: parseStoredBody(body, methods), warnings: [...warnings, ...language_warnings] } as Mandate
}

function mandatesOf(tx: Queries, { orgId, mode }: OrgScope) {
  return tx.selectFrom('mandates').select(mandateColumns).where('org_id', '=', orgId).where('mode', '=', mode)
}

function withFlows(tx: Queries, { orgId, mode }: OrgScope) {
  return tx
    .selectFrom('mandates')
    .leftJoin('mandate_flows', (join) =>
      join
        .onRef('mandate_flows.mandate_id', '=', 'mandates.mandate_id')
        .onRef('mandate_flows.flow_version', '=', 'mandates.flow_version'),
    )
    .select(mandateColumns)
    .select('flow')
    .where('org_id', '=', orgId)
    .where('mode', '=', mode)
}

function throwNotFound(id: string): never {
  throw problem('NOT_FOUND', `Mandate ${id} not found.`)
}
