import type { FastifyRequest } from 'fastify'
import type { OrgScope } from '../access/caller.ts'
import { invalid } from '../api/invalid.ts'
import type { Detail } from '../api/problem.ts'
import { findCampaign } from '../campaigns/campaigns.ts'
import type { Context } from '../context.ts'
import { findMandate } from '../mandates/mandate-rows.ts'
import type { Queries } from '../platform/database/database.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { WorkflowParams } from '../workflows/schema.ts'
import { findWorkflow, getWorkflow } from '../workflows/workflows.ts'
import {
  type CountedCandidatePosition,
  type CountedCandidateRow,
  listCountedCandidates,
  toCountedCandidate,
} from './candidates.ts'
import { countedPathError, readFigure } from './figures.ts'
import { buildMessageFigures, readMessageFigures } from './message-figures.ts'
import { buildOverview } from './overview.ts'
import { type Period, readPeriod } from './period.ts'
import { type AnalyticsSubject, readCounts } from './rollups.ts'
import {
  CountedCandidate,
  CountedCandidatesQuery,
  MessageFiguresQuery,
  MessageOverview,
  Overview,
  OverviewQuery,
} from './schema.ts'

/** Adds the analytics routes. Their figures always reflect the current results. */
export function analyticsRoutes(app: App, { db, clock, vault }: Context): void {
  const config = { scope: 'analytics:read', limit: 'reads', readsReplica: true } as const
  const tags = ['Analytics']
  const description =
    'All figures describe the current state of the candidates who were enrolled in the period. Only `completed`, `declined` and `failed` in `daily` are counted on the day of the outcome. Days are calendar days in India.'
  const response = { 200: success(Overview) }

  app.get(
    '/analytics/workflows/:workflow_id/overview',
    {
      config,
      schema: {
        operationId: 'getWorkflowOverview',
        tags,
        summary: 'Get the analytics overview of a workflow',
        description,
        params: WorkflowParams,
        querystring: OverviewQuery,
        response,
      },
    },
    async ({ caller, params, query }) => {
      const period = readPeriod(query, clock.now())
      const workflow = await getWorkflow(db.queries, caller, params.workflow_id)
      const subject = await resolveSubject(db.queries, caller, workflow.workflow_id, query)
      const rows = await readCounts(db.queries, caller, subject, period)
      const workflowSetup = { channels: workflow.channels, followUpCount: workflow.follow_ups.length }
      return { success: true as const, message: 'Overview', data: buildOverview(rows, period, workflowSetup) }
    },
  )

  app.get(
    '/analytics/overview',
    {
      config,
      schema: {
        operationId: 'getOverview',
        tags,
        summary: 'Get the analytics overview of all workflows',
        description,
        querystring: OverviewQuery,
        response,
      },
    },
    async ({ caller, query }) => {
      const period = readPeriod(query, clock.now())
      const subject = await resolveSubject(db.queries, caller, undefined, query)
      const rows = await readCounts(db.queries, caller, subject, period)
      return {
        success: true as const,
        message: 'Overview',
        data: buildOverview(rows, period, { channels: [], followUpCount: 0 }),
      }
    },
  )

  app.get(
    '/analytics/messages',
    {
      config,
      schema: {
        operationId: 'getMessageFigures',
        tags,
        summary: 'Get message figures',
        description:
          'Counts the LIVE messages by channel, kind and template, and the failures by reason, with what to do. Messages are counted on the day (Indian time) on which their state changed. In TEST mode, nothing is sent, so that the lists are empty.',
        querystring: MessageFiguresQuery,
        response: { 200: success(MessageOverview) },
      },
    },
    async ({ caller, query }) => {
      const period = readPeriod(query, clock.now())
      const subject = await resolveSubject(db.queries, caller, undefined, query)
      const campaignId = subject.kind === 'campaign' ? subject.id : undefined
      const rows = await readMessageFigures(db.queries, caller, campaignId, period)
      return { success: true as const, message: 'Message figures', data: buildMessageFigures(rows) }
    },
  )

  app.get(
    '/analytics/candidates',
    {
      config: { ...config, extraValidation: validateCountedPath },
      schema: {
        operationId: 'listCountedCandidates',
        tags,
        summary: 'List the candidates counted in a figure of the overview',
        description:
          'Lists the candidates who are counted in the figure at the path `counted`, and the outcome of each. The filters are the same as those of the overview. The newest campaign comes first, and within a campaign the candidate enrolled last. The sum of `times` over the whole list equals the figure.',
        querystring: CountedCandidatesQuery,
        response: { 200: success(listOf(CountedCandidate)) },
      },
    },
    async ({ caller, query }) => {
      const { counted, from, to, workflow_id, mandate_id, campaign_id, limit, cursor } = query
      const filters = JSON.stringify([counted, from, to, workflow_id, mandate_id, campaign_id])
      const listName = `analytics candidates ${caller.orgId} ${caller.mode} ${filters}`
      const requestedPeriod = readPeriod(query, clock.now())
      const cursorContent = readCursor<{ period: Period; position: CountedCandidatePosition }>(vault, listName, cursor)
      // Later pages keep the period of the first page, even past midnight.
      const period = cursorContent?.period ?? requestedPeriod
      const figure = readFigure(counted, period)
      if (workflow_id !== undefined && !(await findWorkflow(db.queries, caller, workflow_id)))
        throw invalid([
          {
            path: 'query.workflow_id',
            message: 'is not a workflow of this organisation and mode; find workflow IDs with GET /workflows',
          },
        ])
      const subject = await resolveSubject(db.queries, caller, workflow_id, query)
      const rows = await listCountedCandidates(db.queries, caller, subject, figure, {
        after: cursorContent?.position,
        limit: limit + 1,
      })
      const page = rows.slice(0, limit)
      const next_cursor =
        rows.length > limit ? writeCursor(vault, listName, { period, position: positionOf(page.at(-1)!) }) : null
      return {
        success: true as const,
        message: 'Candidates',
        data: { items: page.map(toCountedCandidate), next_cursor },
      }
    },
  )
}

function validateCountedPath(_context: Context, { query }: FastifyRequest): Detail[] {
  const { counted } = query as { counted?: unknown }
  const error = typeof counted === 'string' ? countedPathError(counted) : undefined
  return error === undefined ? [] : [{ path: 'query.counted', message: error }]
}

function positionOf({ campaign_id, day, candidate_id }: CountedCandidateRow): CountedCandidatePosition {
  return { campaign_id, day, candidate_id }
}

/**
 * Returns the requested campaign, or else the mandate, the workflow or the whole organisation. Throws if the requested objects do
 * not belong together.
 */
async function resolveSubject(
  tx: Queries,
  scope: OrgScope,
  workflowId: string | undefined,
  { mandate_id, campaign_id }: { mandate_id?: string | undefined; campaign_id?: string | undefined },
): Promise<AnalyticsSubject> {
  const details: Detail[] = []
  const addDetail = (name: string, parent: string) =>
    details.push({ path: `query.${name}_id`, message: `is not a ${name} of this ${parent}` })
  const parent = workflowId === undefined ? 'organisation and mode' : 'workflow'
  const belongsToWorkflow = (object: { workflow_id: string } | undefined) =>
    object !== undefined && (workflowId === undefined || object.workflow_id === workflowId)
  if (mandate_id !== undefined && !belongsToWorkflow(await findMandate(tx, scope, mandate_id)))
    addDetail('mandate', parent)
  if (campaign_id !== undefined) {
    const campaign = await findCampaign(tx, scope, campaign_id)
    if (!belongsToWorkflow(campaign)) addDetail('campaign', parent)
    else if (mandate_id !== undefined && campaign!.mandate_id !== mandate_id) addDetail('campaign', 'mandate')
  }
  if (details.length > 0) throw invalid(details)
  if (campaign_id !== undefined) return { kind: 'campaign', id: campaign_id }
  if (mandate_id !== undefined) return { kind: 'mandate', id: mandate_id }
  return workflowId === undefined ? { kind: 'all', id: '' } : { kind: 'workflow', id: workflowId }
}
