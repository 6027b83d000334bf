import type { OwnerScope } from '../access/caller.ts'
import { findCampaign } from '../campaigns/campaigns.ts'
import type { Context } from '../context.ts'
import { findMandate } from '../mandates/mandates.ts'
import { success } from '../platform/answers.ts'
import type { Queries } from '../platform/database.ts'
import type { App } from '../platform/http.ts'
import type { Detail } from '../platform/problem.ts'
import { invalid } from '../platform/validation.ts'
import { WorkflowParams } from '../workflows/schema.ts'
import { getWorkflow } from '../workflows/workflows.ts'
import { overviewOf } from './overview.ts'
import { readPeriod } from './period.ts'
import { readCounts, type Subject } from './rollups.ts'
import { Overview, OverviewQuery, PeriodQuery } from './schema.ts'

/** How campaigns go: always as the results stand at that moment. */
export function analyticsRoutes(app: App, { db, clock }: Context): void {
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
        querystring: PeriodQuery,
        response,
      },
    },
    async ({ caller, query }) => {
      const period = readPeriod(query, clock.now())
      const rows = await readCounts(db.queries, caller, { kind: 'all', id: '' }, period)
      return {
        success: true as const,
        message: 'Overview',
        data: overviewOf(rows, period, { channels: [], followUps: 0 }),
      }
    },
  )
}

/** The narrowest that was asked for; one that is not part of the other is a mistake. */
async function subjectOf(
  tx: Queries,
  scope: OwnerScope,
  workflowId: string,
  { mandate_id, campaign_id }: { mandate_id?: string | undefined; campaign_id?: string | undefined },
): Promise<Subject> {
  const details: Detail[] = []
  if (mandate_id !== undefined) {
    const mandate = await findMandate(tx, scope, mandate_id)
    if (mandate?.workflow_id !== workflowId)
      details.push({ path: 'query.mandate_id', message: "is not one of the workflow's mandates" })
  }
  if (campaign_id !== undefined) {
    const campaign = await findCampaign(tx, scope, campaign_id)
    if (campaign?.workflow_id !== workflowId)
      details.push({ path: 'query.campaign_id', message: "is not one of the workflow's campaigns" })
    else if (mandate_id !== undefined && campaign.mandate_id !== mandate_id)
      details.push({ path: 'query.campaign_id', message: "is not one of the mandate's campaigns" })
  }
  if (details.length > 0) throw invalid(details)
  if (campaign_id !== undefined) return { kind: 'campaign', id: campaign_id }
  return mandate_id === undefined ? { kind: 'workflow', id: workflowId } : { kind: 'mandate', id: mandate_id }
}
