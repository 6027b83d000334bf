import { sql } from 'kysely'
import { Type } from 'typebox'
import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { listCandidatePage, refreshCandidateList } from '../candidates/candidate-list.ts'
import { candidateRecords } from '../candidates/records.ts'
import { matchesSearch } from '../lists/sorted-list.ts'
import { successResponse } from '../schema.ts'

const SearchHit = named(
  'SearchHit',
  Type.Object({
    kind: Type.Enum(['candidate', 'mandate', 'campaign', 'workflow', 'verification']),
    id: Type.String({ description: 'The ID of the record; of a candidate, that of the result.' }),
    name: Type.String(),
    detail: Type.String(),
  }),
)
const SearchHitList = named('SearchHitList', Type.Object({ items: Type.Array(SearchHit) }))

interface Hit {
  kind: 'candidate' | 'mandate' | 'campaign' | 'workflow' | 'verification'
  id: string
  name: string
  detail: string
}

const MAX_HITS_PER_KIND = 5

/** Searches the records of an organisation, for the search box on every page. */
export function searchRoutes(app: App, context: Context): void {
  const { db } = context
  app.get(
    '/orgs/:org/:mode/search',
    {
      config: { role: 'viewer' },
      schema: {
        querystring: Type.Object({ q: Type.String({ minLength: 2, maxLength: 200 }) }),
        response: { 200: success(SearchHitList) },
      },
    },
    async ({ caller, query: { q } }) => {
      const [candidates, mandates, campaigns, workflows, verifications] = await Promise.all([
        findCandidates(caller, q),
        findMandates(caller, q),
        findCampaigns(caller, q),
        findWorkflows(caller, q),
        findVerifications(caller, q),
      ])
      return successResponse('Search results', {
        items: [...candidates, ...mandates, ...campaigns, ...workflows, ...verifications],
      })
    },
  )

  async function findCandidates(scope: OrgScope, q: string): Promise<Hit[]> {
    await refreshCandidateList(context, scope)
    const page = { sort: 'updated' as const, after: undefined, limit: MAX_HITS_PER_KIND }
    const { rows } = await listCandidatePage(db.queries, context, scope, { q }, page)
    const records = await candidateRecords(db.queries, rows)
    return records.map(({ result_id, candidate, job_title, status }) => ({
      kind: 'candidate' as const,
      id: result_id,
      name: candidate.name,
      detail: [candidate.phone ?? candidate.email, job_title, status].filter(Boolean).join(' · '),
    }))
  }

  async function findMandates({ orgId, mode }: OrgScope, q: string): Promise<Hit[]> {
    const text = sql`concat_ws(' ', body::json ->> 'title', body::json ->> 'company_name', job_id)`
    const { rows } = await sql<Hit>`
      select 'mandate' as kind, mandate_id as id, body::json ->> 'title' as name, body::json ->> 'company_name' as detail
      from mandates where org_id = ${orgId} and mode = ${mode} and ${matchesSearch(text, sql`mandate_id`, q)}
      order by (status = 'archived'), mandate_id desc limit ${MAX_HITS_PER_KIND}`.execute(db.queries)
    return rows
  }

  async function findCampaigns({ orgId, mode }: OrgScope, q: string): Promise<Hit[]> {
    const text = sql`concat_ws(' ', g.name, m.body::json ->> 'title', m.body::json ->> 'company_name', g.job_id)`
    const { rows } = await sql<Hit>`
      select 'campaign' as kind, g.campaign_id as id, coalesce(g.name, m.body::json ->> 'title') as name,
        concat_ws(${' · '}, m.body::json ->> 'title', g.candidates || case when g.candidates = 1 then ' candidate' else ' candidates' end) as detail
      from campaigns g join mandates m using (mandate_id)
      where g.org_id = ${orgId} and g.mode = ${mode} and ${matchesSearch(text, sql`g.campaign_id`, q)}
      order by (g.hold = 'archived') is true, g.campaign_id desc limit ${MAX_HITS_PER_KIND}`.execute(db.queries)
    return rows
  }

  async function findWorkflows({ orgId, mode }: OrgScope, q: string): Promise<Hit[]> {
    const { rows } = await sql<Hit>`
      select 'workflow' as kind, workflow_id as id, name, status as detail from workflows
      where org_id = ${orgId} and mode = ${mode} and ${matchesSearch(sql`name`, sql`workflow_id`, q)}
      order by (status = 'archived'), workflow_id desc limit ${MAX_HITS_PER_KIND}`.execute(db.queries)
    return rows
  }

  /** Finds verifications by their ID or the partner's ID of the student, which are indexed. */
  async function findVerifications({ orgId, mode }: OrgScope, q: string): Promise<Hit[]> {
    const text = q.trim()
    const { rows } = await sql<Hit>`
      select 'verification' as kind, s.verification_id as id, u.external_student_id as name, s.status as detail
      from verification_sessions s join verification_students u using (user_id)
      where s.org_id = ${orgId} and s.mode = ${mode} and u.org_id = ${orgId} and u.mode = ${mode}
        and (s.verification_id = ${text} or u.external_student_id = ${text})
      order by s.created_at desc limit ${MAX_HITS_PER_KIND}`.execute(db.queries)
    return rows
  }
}
