import type { OrgScope } from '../../access/caller.ts'
import { runIdempotent } from '../../access/idempotency.ts'
import type { Context } from '../../context.ts'
import type { Queries } from '../../platform/database/database.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { getCampaign } from '../campaigns.ts'
import { CampaignParams } from '../schema.ts'
import { estimateCost } from './estimate.ts'
import { fromMicros } from './money.ts'
import { getSpendingSettings, setPriceTable } from './prices.ts'
import {
  CampaignCapBody,
  CampaignSpendingRecord,
  CostEstimateRecord,
  DailyCapBody,
  EstimateBody,
  PriceTableBody,
  SpendingRecord,
} from './schema.ts'
import { campaignSpending, getSpendingToday, setCampaignCap, setDailyCap } from './spending.ts'

/** Routes for prices, caps and the cost of campaigns. */
export function spendingRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const readAccess = { scope: 'campaigns:read', limit: 'reads', readsReplica: true } as const
  const writeAccess = { scope: 'campaigns:write', limit: 'campaignWrites', idempotent: 'optional' } as const
  const tags = ['Spending']

  app.get(
    '/spending',
    {
      config: readAccess,
      schema: {
        operationId: 'getSpending',
        tags,
        summary: 'Get prices, the daily cap and the amount spent today',
        response: { 200: success(SpendingRecord) },
      },
    },
    async ({ caller }) => ({
      success: true as const,
      message: 'Spending',
      data: await spendingRecord(db.queries, caller),
    }),
  )

  app.put(
    '/spending/price-table',
    {
      config: writeAccess,
      schema: {
        operationId: 'replacePriceTable',
        tags,
        summary: 'Replace the price table',
        description:
          'Estimates and caps use these prices. Costs that providers report replace the estimates. The currency cannot change after the first message was sent.',
        body: PriceTableBody,
        response: { 200: success(SpendingRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        await setPriceTable(tx, clock, caller, request.body)
        const data = await spendingRecord(tx, caller)
        return { status: 200, body: { success: true, message: 'Price table replaced', data } }
      })
    },
  )

  app.delete(
    '/spending/price-table',
    {
      config: writeAccess,
      schema: {
        operationId: 'resetPriceTable',
        tags,
        summary: 'Restore the default prices',
        response: { 200: success(SpendingRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        await setPriceTable(tx, clock, caller, null)
        const data = await spendingRecord(tx, caller)
        return { status: 200, body: { success: true, message: 'Price table restored', data } }
      })
    },
  )

  app.put(
    '/spending/daily-cap',
    {
      config: writeAccess,
      schema: {
        operationId: 'setDailyCap',
        tags,
        summary: 'Set the daily cap',
        description:
          'A campaign pauses before a message that would exceed the cap. It resumes when the cap is raised, or on the next day in India.',
        body: DailyCapBody,
        response: { 200: success(SpendingRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        await setDailyCap(tx, clock, caller, request.body.daily_cap)
        const data = await spendingRecord(tx, caller)
        return { status: 200, body: { success: true, message: 'Daily cap set', data } }
      })
    },
  )

  app.post(
    '/spending/estimate',
    {
      config: { ...readAccess, idempotent: 'optional' },
      schema: {
        operationId: 'estimateCost',
        tags,
        summary: 'Estimate the cost of a campaign',
        description:
          'Estimates the cost of messages before a campaign starts, with the price table and the channels of the workflow. Responses to replies are not included.',
        body: EstimateBody,
        response: { 200: success(CostEstimateRecord) },
      },
    },
    async ({ caller, body }) => ({
      success: true as const,
      message: 'Cost estimate',
      data: await estimateCost(db.queries, context, caller, body),
    }),
  )

  app.get(
    '/campaigns/:campaign_id/spending',
    {
      config: readAccess,
      schema: {
        operationId: 'getCampaignSpending',
        tags,
        summary: 'Get the amount that a campaign spent',
        params: CampaignParams,
        response: { 200: success(CampaignSpendingRecord) },
      },
    },
    async ({ caller, params }) => ({
      success: true as const,
      message: 'Spending of the campaign',
      data: await campaignRecordOf(db.queries, caller, params.campaign_id),
    }),
  )

  app.put(
    '/campaigns/:campaign_id/spend-cap',
    {
      config: writeAccess,
      schema: {
        operationId: 'setSpendCap',
        tags,
        summary: 'Set the spend cap of a campaign',
        description:
          'The campaign pauses before a message that would exceed the cap, and resumes when the cap is raised or removed.',
        params: CampaignParams,
        body: CampaignCapBody,
        response: { 200: success(CampaignSpendingRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { campaign_id } = request.params
        await setCampaignCap(tx, clock, caller, campaign_id, request.body.spend_cap)
        const data = await campaignRecordOf(tx, caller, campaign_id)
        return { status: 200, body: { success: true, message: 'Spend cap set', data } }
      })
    },
  )

  async function spendingRecord(queries: Queries, scope: OrgScope) {
    const { prices, isDefault, dailyCap } = await getSpendingSettings(queries, scope)
    const { day, spentToday } = await getSpendingToday(queries, clock, scope)
    return {
      price_table: prices,
      is_default: isDefault,
      day,
      spent_today: fromMicros(spentToday),
      daily_cap: dailyCap === null ? null : fromMicros(dailyCap),
    }
  }
}

async function campaignRecordOf(queries: Queries, scope: OrgScope, campaignId: string) {
  const { spend_cap, paused_by } = await getCampaign(queries, scope, campaignId)
  const { prices } = await getSpendingSettings(queries, scope)
  const { spent, reported } = await campaignSpending(queries, campaignId)
  return {
    campaign_id: campaignId,
    currency: prices.currency,
    spent: fromMicros(spent),
    reported: fromMicros(reported),
    spend_cap: spend_cap === null ? null : fromMicros(spend_cap),
    paused_by,
  }
}
