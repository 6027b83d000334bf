import type { FastifyRequest } from 'fastify'
import type { OwnerScope } from '../access/caller.ts'
import type { Detail } from '../api/problem.ts'
import { findCampaign } from '../campaigns/campaigns.ts'
import type { Context } from '../context.ts'
import { findMandate } from '../mandates/mandate-rows.ts'
import type { Queries } from '../platform/database/database.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { invalid } from '../platform/http/validation.ts'
import { WorkflowParams } from '../workflows/schema.ts'
import { findWorkflow, getWorkflow } from '../workflows/workflows.ts'
import { type CountedRow, countedRecord, listCounted, type Place } from './candidates.ts'
import { pathFault, readCounted } from './numbers.ts'
import { overviewOf } from './overview.ts'
import { type Period, readPeriod } from './period.ts'
import { readCounts, type Subject } from './rollups.ts'
import { CountedCandidate, CountedQuery, Overview, OverviewQuery } from './schema.ts'

/** How campaigns go: always as the results stand at that moment. */
export function analyticsRoutes(app: App, { db, clock, vault }: Context): void {
  const config = { scope: 'analytics:read', limit: 'reads' } as const
  const tags = ['Analytics']
  const description =
    'Figures are about the candidates who were enrolled in the period, as they stand now; only the ends in `daily` count on the day on which they came. Days are days in India.'
  const response = { 200: success(Overview) }

  app.get(
    '/analytics/workflows/:workflow_id/overview',
    {
      config,
      schema: {
        operationId: 'getWorkflowOverview',
        tags,
        summary: "How a workflow's campaigns go",
        description,
        params: WorkflowParams,
        querystring: OverviewQuery,
        response,
      },
    },
    async ({ caller, params, query }) => {
      const period = readPeriod(query, clock.now())
      const workflow = await getWorkflow(db.queries, caller, params.workflow_id)
      const subject = await subjectOf(db.queries, caller, workflow.workflow_id, query)
      const rows = await readCounts(db.queries, caller, subject, period)
      const setUp = { channels: workflow.channels, followUps: workflow.follow_ups.length }
      return { success: true as const, message: 'Overview', data: overviewOf(rows, period, setUp) }
    },
  )

  app.get(
    '/analytics/overview',
    {
      config,
      schema: {
        operationId: 'getOverview',
        tags,
        summary: 'How the campaigns of all workflows go',
        description,
        querystring: OverviewQuery,
        response,
      },
    },
    async ({ caller, query }) => {
      const period = readPeriod(query, clock.now())
      const subject = await subjectOf(db.queries, caller, undefined, query)
      const rows = await readCounts(db.queries, caller, subject, period)
      return {
        success: true as const,
        message: 'Overview',
        data: overviewOf(rows, period, { channels: [], followUps: 0 }),
      }
    },
  )

  app.get(
    '/analytics/candidates',
    {
      config: { ...config, shape: countedShape },
      schema: {
        operationId: 'listCountedCandidates',
        tags,
        summary: 'The candidates behind a number of the overview',
        description:
          'Whom the number named by `counted` was counted from, with the same filters: the newest campaign first, and in it whoever was enrolled last, with what came of each and why. The sum of `times` over the whole list is the number.',
        querystring: CountedQuery,
        response: { 200: success(listOf(CountedCandidate)) },
      },
    },
    async ({ caller, query }) => {
      const { counted, from, to, workflow_id, mandate_id, campaign_id, limit, cursor } = query
      const asked = JSON.stringify([counted, from, to, workflow_id, mandate_id, campaign_id])
      const list = `analytics candidates ${caller.orgId} ${caller.mode} ${asked}`
      const now = readPeriod(query, clock.now())
      const last = readCursor<{ period: Period; place: Place }>(vault, list, cursor)
      // Whoever reads on past midnight stays in the period of the first page.
      const period = last?.period ?? now
      const number = readCounted(counted, period)
      if (workflow_id !== undefined && !(await findWorkflow(db.queries, caller, workflow_id)))
        throw invalid([{ path: 'query.workflow_id', message: "is not one of the organisation's workflows" }])
      const subject = await subjectOf(db.queries, caller, workflow_id, query)
      const found = await listCounted(db.queries, caller, subject, number, { after: last?.place, limit: limit + 1 })
      const page = found.slice(0, limit)
      const next_cursor =
        found.length > limit ? writeCursor(vault, list, { period, place: placeOf(page.at(-1)!) }) : null
      return { success: true as const, message: 'Candidates', data: { items: page.map(countedRecord), next_cursor } }
    },
  )
}

function countedShape(_context: Context, { query }: FastifyRequest): Detail[] {
  const { counted } = query as { counted?: unknown }
  const fault = typeof counted === 'string' ? pathFault(counted) : undefined
  return fault === undefined ? [] : [{ path: 'query.counted', message: fault }]
}

function placeOf({ campaign_id, day, candidate_id }: CountedRow): Place {
  return { campaign_id, day, candidate_id }
}

/** The narrowest that was asked for; one that is not part of the other is a mistake. */
async function subjectOf(
  tx: Queries,
  scope: OwnerScope,
  workflowId: string | undefined,
  { mandate_id, campaign_id }: { mandate_id?: string | undefined; campaign_id?: string | undefined },
): Promise<Subject> {
  const details: Detail[] = []
  const refuse = (name: string, whose: string) =>
    details.push({ path: `query.${name}_id`, message: `is not one of the ${whose}'s ${name}s` })
  const owner = workflowId === undefined ? 'organisation' : 'workflow'
  const isOf = (found: { workflow_id: string } | undefined) =>
    found !== undefined && (workflowId === undefined || found.workflow_id === workflowId)
  if (mandate_id !== undefined && !isOf(await findMandate(tx, scope, mandate_id))) refuse('mandate', owner)
  if (campaign_id !== undefined) {
    const campaign = await findCampaign(tx, scope, campaign_id)
    if (!isOf(campaign)) refuse('campaign', owner)
    else if (mandate_id !== undefined && campaign!.mandate_id !== mandate_id) refuse('campaign', 'mandate')
  }
  if (details.length > 0) throw invalid(details)
  if (campaign_id !== undefined) return { kind: 'campaign', id: campaign_id }
  if (mandate_id !== undefined) return { kind: 'mandate', id: mandate_id }
  return workflowId === undefined ? { kind: 'all', id: '' } : { kind: 'workflow', id: workflowId }
}
