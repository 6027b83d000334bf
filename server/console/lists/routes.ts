import { sql } from 'kysely'
import { type TSchema, Type } from 'typebox'
import { type Campaign, campaignRecord, campaignStatuses } from '../../campaigns/campaigns.ts'
import { CampaignRecord } from '../../campaigns/schema.ts'
import type { Context } from '../../context.ts'
import { MandateRecord, MandatesQuery } from '../../mandates/schema.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { ResultsQuery } from '../../results/schema.ts'
import { workflowStatuses } from '../../workflows/enums.ts'
import { WorkflowRecord } from '../../workflows/schema.ts'
import { type Workflow, workflowRecords } from '../../workflows/workflows.ts'
import { countedListOf } from '../paginate.ts'
import { successResponse } from '../schema.ts'
import { type ListSort, listQuery, matchesSearch, sortedPage, splitListQuery } from './sorted-list.ts'

const text = Type.String()
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const ListedCampaign = named(
  'ListedCampaign',
  Type.Object({
    ...CampaignRecord.properties,
    display_name: Type.String({ description: 'The name of the campaign, or the title of its job.' }),
    job_title: text,
    company_name: text,
  }),
)

const ListedMandate = named(
  'ListedMandate',
  Type.Object({
    mandate_id: text,
    title: text,
    company_name: text,
    workflow_id: text,
    job_id: orNull(text),
    status: MandateRecord.properties.status,
    methods: MandateRecord.properties.methods,
    skills: Type.Integer(),
    created_via: MandateRecord.properties.created_via,
    created_at: text,
    updated_at: text,
  }),
)

/** Selects campaigns with their current time, which a test clock may set, and their status. */
const campaignsWithStatus = (now: number) => sql`
  (select g.*, coalesce(k.now_at, ${new Date(now)}) as now_at,
    case when g.hold = 'archived' then 'archived' when g.candidates > 0 and g.pending = 0 then 'completed'
      when g.hold = 'paused' then 'paused' when g.starts_at > coalesce(k.now_at, ${new Date(now)}) then 'scheduled' else 'running' end
      as status
   from campaigns g left join test_clocks k on k.test_clock_id = g.test_clock_id) as g`

const mandateTitle = sql`(m.body::json ->> 'title')`
const mandateCompany = sql`(m.body::json ->> 'company_name')`

const CAMPAIGN_SORTS: Record<string, ListSort> = {
  newest: { key: sql`g.created_at`, type: 'timestamptz', descending: true },
  oldest: { key: sql`g.created_at`, type: 'timestamptz', descending: false },
  name: { key: sql`lower(coalesce(g.name, ${mandateTitle}))`, type: 'text', descending: false },
  pending: { key: sql`g.pending`, type: 'bigint', descending: true },
  candidates: { key: sql`g.candidates`, type: 'bigint', descending: true },
}
const MANDATE_SORTS: Record<string, ListSort> = {
  newest: { key: sql`m.created_at`, type: 'timestamptz', descending: true },
  updated: { key: sql`m.updated_at`, type: 'timestamptz', descending: true },
  name: { key: sql`lower(${mandateTitle})`, type: 'text', descending: false },
}
const WORKFLOW_SORTS: Record<string, ListSort> = {
  newest: { key: sql`w.created_at`, type: 'timestamptz', descending: true },
  updated: { key: sql`w.updated_at`, type: 'timestamptz', descending: true },
  name: { key: sql`lower(w.name)`, type: 'text', descending: false },
}

const { status, workflow_id, job_id } = MandatesQuery.properties
const { mandate_id } = ResultsQuery.properties

const ListedCampaignsQuery = listQuery(
  { status: Type.Optional(Type.Enum([...campaignStatuses])), mandate_id, workflow_id, job_id },
  ['newest', 'oldest', 'name', 'pending', 'candidates'],
)
const ListedMandatesQuery = listQuery({ status, workflow_id, job_id }, ['newest', 'updated', 'name'])
const ListedWorkflowsQuery = listQuery({ status: Type.Optional(Type.Enum([...workflowStatuses])) }, [
  'newest',
  'updated',
  'name',
])

/** Lists campaigns, mandates and workflows. The database filters, searches, sorts and counts them. */
export function listRoutes(app: App, { db, vault, clock }: Context): void {
  const config = { role: 'viewer' } as const

  app.get(
    '/orgs/:org/:mode/lists/campaigns',
    {
      config,
      schema: { querystring: ListedCampaignsQuery, response: { 200: success(countedListOf(ListedCampaign)) } },
    },
    async ({ caller, query }) => {
      const { listKey, page, filters } = splitListQuery('campaigns', query)
      const { q, sort, status, mandate_id, workflow_id, job_id } = filters
      const conditions = [sql`g.org_id = ${caller.orgId} and g.mode = ${caller.mode}`]
      if (status !== undefined) conditions.push(sql`g.status = ${status}`)
      if (mandate_id !== undefined) conditions.push(sql`g.mandate_id = ${mandate_id}`)
      if (workflow_id !== undefined) conditions.push(sql`g.workflow_id = ${workflow_id}`)
      if (job_id !== undefined) conditions.push(sql`g.job_id = ${job_id}`)
      if (q !== undefined)
        conditions.push(
          matchesSearch(
            sql`concat_ws(' ', g.name, ${mandateTitle}, ${mandateCompany}, g.job_id)`,
            sql`g.campaign_id`,
            q,
          ),
        )
      type Row = Campaign & { now_at: Date; job_title: string; company_name: string }
      const result = await sortedPage<Row, object>(
        db.queries,
        vault,
        listKey,
        page,
        {
          from: sql`${campaignsWithStatus(clock.now())} join mandates m using (mandate_id)`,
          columns: sql`g.*, ${mandateTitle} as job_title, ${mandateCompany} as company_name`,
          id: sql`g.campaign_id`,
          conditions,
          sort: CAMPAIGN_SORTS[sort]!,
        },
        ({ now_at, job_title, company_name, ...campaign }) => ({
          ...campaignRecord(campaign, now_at.getTime()),
          display_name: campaign.name ?? job_title,
          job_title,
          company_name,
        }),
      )
      return successResponse('Campaigns', result as never)
    },
  )

  app.get(
    '/orgs/:org/:mode/lists/mandates',
    { config, schema: { querystring: ListedMandatesQuery, response: { 200: success(countedListOf(ListedMandate)) } } },
    async ({ caller, query }) => {
      const { listKey, page, filters } = splitListQuery('mandates', query)
      const { q, sort, status, workflow_id, job_id } = filters
      const conditions = [sql`m.org_id = ${caller.orgId} and m.mode = ${caller.mode}`]
      if (status !== undefined) conditions.push(sql`m.status = ${status}`)
      if (workflow_id !== undefined) conditions.push(sql`m.workflow_id = ${workflow_id}`)
      if (job_id !== undefined) conditions.push(sql`m.job_id = ${job_id}`)
      if (q !== undefined)
        conditions.push(
          matchesSearch(sql`concat_ws(' ', ${mandateTitle}, ${mandateCompany}, m.job_id)`, sql`m.mandate_id`, q),
        )
      type Row = { created_at: Date; updated_at: Date; [name: string]: unknown }
      const result = await sortedPage<Row, object>(
        db.queries,
        vault,
        listKey,
        page,
        {
          from: sql`mandates m`,
          columns: sql`m.mandate_id, ${mandateTitle} as title, ${mandateCompany} as company_name, m.workflow_id, m.job_id, m.status,
            m.methods, coalesce(json_array_length(m.body::json -> 'skills'), 0) as skills, m.created_via, m.created_at, m.updated_at`,
          id: sql`m.mandate_id`,
          conditions,
          sort: MANDATE_SORTS[sort]!,
        },
        ({ created_at, updated_at, ...row }) => ({
          ...row,
          created_at: created_at.toISOString(),
          updated_at: updated_at.toISOString(),
        }),
      )
      return successResponse('Mandates', result as never)
    },
  )

  app.get(
    '/orgs/:org/:mode/lists/workflows',
    {
      config,
      schema: { querystring: ListedWorkflowsQuery, response: { 200: success(countedListOf(WorkflowRecord)) } },
    },
    async ({ caller, query }) => {
      const { listKey, page, filters } = splitListQuery('workflows', query)
      const { q, sort, status } = filters
      const conditions = [sql`w.org_id = ${caller.orgId} and w.mode = ${caller.mode}`]
      if (status !== undefined) conditions.push(sql`w.status = ${status}`)
      if (q !== undefined)
        conditions.push(matchesSearch(sql`concat_ws(' ', w.name, w.description)`, sql`w.workflow_id`, q))
      const { items, ...rest } = await sortedPage<Workflow, Workflow>(
        db.queries,
        vault,
        listKey,
        page,
        {
          from: sql`workflows w`,
          columns: sql`w.workflow_id, w.name, w.description, w.default_methods, w.channels, w.languages, w.follow_ups, w.created_via,
            w.status, w.created_at, w.updated_at`,
          id: sql`w.workflow_id`,
          conditions,
          sort: WORKFLOW_SORTS[sort]!,
        },
        (row) => row,
      )
      return successResponse('Workflows', { items: await workflowRecords(db.queries, items), ...rest })
    },
  )
}
