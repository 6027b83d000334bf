import { perform } from '../access/idempotency.ts'
import type { Context } from '../context.ts'
import { NoBody } from '../platform/http/body.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { archiveCampaign } from './archive.ts'
import {
  type Campaign,
  campaignRecord,
  createCampaign,
  getCampaign,
  listCampaigns,
  pauseCampaign,
  resumeCampaign,
} from './campaigns.ts'
import { listCandidates } from './candidacy.ts'
import { balanceOf, listEntries } from './credits.ts'
import { type Enrolment, enrol, enrolInto, requireChannelsOf } from './enrolment.ts'
import { enrolmentShape, rowsAgainstWorkflow } from './enrolment-input.ts'
import {
  CampaignBody,
  CampaignParams,
  CampaignRecord,
  CandidateRecord,
  CreditBalance,
  CreditEntryRecord,
  EnrolmentAnswer,
  EnrolmentBody,
  PageQuery,
} from './schema.ts'

export function campaignRoutes(app: App, context: Context): void {
  const { db, clock, vault } = context
  const reading = { scope: 'campaigns:read', limit: 'reads' } as const
  const writing = { scope: 'campaigns:write', limit: 'campaignWrites' } as const
  const enrolling = {
    ...writing,
    idempotent: 'required',
    shape: enrolmentShape,
    rulesToo: rowsAgainstWorkflow,
  } as const
  const tags = ['Campaigns']

  app.post(
    '/campaigns',
    {
      config: enrolling,
      schema: {
        operationId: 'createCampaign',
        tags,
        summary: 'Start a campaign for a mandate that is ready',
        description:
          'One credit a candidate. One bad row refuses the whole call, and nobody is enrolled or charged. Contact begins at `starts_at`, between 09:00 and 20:00 IST.',
        body: CampaignBody,
        response: { 202: success(EnrolmentAnswer) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const { candidates, ...input } = request.body
        const made = await createCampaign(tx, caller, clock, input, caller.via)
        await requireChannelsOf(tx, caller, context, made)
        if (!candidates) return { status: 202, body: answer('Campaign made', made) }
        const { campaign, enrolment } = await enrol(tx, caller, context, made, candidates)
        return { status: 202, body: answer('Campaign made', campaign, enrolment) }
      })
    },
  )

  app.post(
    '/campaigns/:campaign_id/candidates',
    {
      config: enrolling,
      schema: {
        operationId: 'enrolCandidates',
        tags,
        summary: 'Enrol more candidates',
        description:
          'Who is in the campaign already, by phone or by your id, is skipped and not charged. A completed campaign goes on again.',
        params: CampaignParams,
        body: EnrolmentBody,
        response: { 202: success(EnrolmentAnswer) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const { candidates } = request.body
        const { campaign, enrolment } = await enrolInto(tx, caller, context, request.params.campaign_id, candidates)
        return { status: 202, body: answer('Candidates enrolled', campaign, enrolment) }
      })
    },
  )

  app.get(
    '/campaigns',
    {
      config: reading,
      schema: {
        operationId: 'listCampaigns',
        tags,
        summary: 'Campaigns, newest first',
        querystring: PageQuery,
        response: { 200: success(listOf(CampaignRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor } }) => {
      const before = readCursor<string>(vault, 'campaigns', cursor)
      const found = await listCampaigns(db.queries, caller, { before, limit: limit + 1 })
      const page = found.slice(0, limit)
      const next_cursor = found.length > limit ? writeCursor(vault, 'campaigns', page.at(-1)!.campaign_id) : null
      const items = page.map((campaign) => campaignRecord(campaign, clock.now()))
      return { success: true as const, message: 'Campaigns', data: { items, next_cursor } }
    },
  )

  app.get(
    '/campaigns/:campaign_id',
    {
      config: reading,
      schema: {
        operationId: 'getCampaign',
        tags,
        summary: 'One campaign',
        params: CampaignParams,
        response: { 200: success(CampaignRecord) },
      },
    },
    async ({ caller, params }) => {
      const campaign = await getCampaign(db.queries, caller, params.campaign_id)
      return { success: true as const, message: 'Campaign', data: campaignRecord(campaign, clock.now()) }
    },
  )

  app.get(
    '/campaigns/:campaign_id/candidates',
    {
      config: reading,
      schema: {
        operationId: 'listCandidates',
        tags,
        summary: 'Who is in a campaign, newest first',
        params: CampaignParams,
        querystring: PageQuery,
        response: { 200: success(listOf(CandidateRecord)) },
      },
    },
    async ({ caller, params, query: { limit, cursor } }) => {
      const { campaign_id } = await getCampaign(db.queries, caller, params.campaign_id)
      const list = `candidates of ${campaign_id}`
      const before = readCursor<string>(vault, list, cursor)
      const found = await listCandidates(db.queries, campaign_id, { before, limit: limit + 1 })
      const items = found.slice(0, limit)
      const next_cursor = found.length > limit ? writeCursor(vault, list, items.at(-1)!.candidate_id) : null
      return { success: true as const, message: 'Candidates', data: { items, next_cursor } }
    },
  )

  for (const [verb, change, message, summary] of [
    ['pause', pauseCampaign, 'Campaign paused', 'Contact nobody until it goes on'],
    ['resume', resumeCampaign, 'Campaign goes on', 'Go on with a paused campaign'],
  ] as const) {
    app.post(
      `/campaigns/:campaign_id/${verb}`,
      {
        config: { ...writing, idempotent: 'optional' },
        schema: {
          operationId: `${verb}Campaign`,
          tags,
          summary,
          params: CampaignParams,
          body: NoBody,
          response: { 200: success(CampaignRecord) },
        },
      },
      async (request, reply): Promise<void> => {
        await perform(context, request, reply, async (tx, caller) => {
          const { campaign_id } = request.params as { campaign_id: string }
          const campaign = await change(tx, caller, clock, campaign_id)
          return { status: 200, body: { success: true, message, data: campaignRecord(campaign, clock.now()) } }
        })
      },
    )
  }

  app.delete(
    '/campaigns/:campaign_id',
    {
      config: { ...writing, idempotent: 'optional' },
      schema: {
        operationId: 'archiveCampaign',
        tags,
        summary: 'Archive a campaign',
        description: 'Nobody is contacted any more; pending results become `failed` with the reason `stopped`.',
        params: CampaignParams,
        response: { 200: success(CampaignRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const campaign = await archiveCampaign(tx, caller, clock, request.params.campaign_id)
        const data = campaignRecord(campaign, clock.now())
        return { status: 200, body: { success: true, message: 'Campaign archived', data } }
      })
    },
  )

  function answer(message: string, campaign: Campaign, enrolment?: Enrolment) {
    const data = { campaign: campaignRecord(campaign, clock.now()), ...(enrolment ? { enrolment } : {}) }
    return { success: true, message, data }
  }
}

export function creditRoutes(app: App, { db, vault }: Context): void {
  const config = { scope: 'campaigns:read', limit: 'reads' } as const
  const tags = ['Credits']

  app.get(
    '/credits',
    {
      config,
      schema: {
        operationId: 'getCredits',
        tags,
        summary: 'Credits left',
        response: { 200: success(CreditBalance) },
      },
    },
    async ({ caller }) => {
      const balance = await balanceOf(db.queries, caller)
      return { success: true as const, message: 'Credits', data: { balance } }
    },
  )

  app.get(
    '/credits/entries',
    {
      config,
      schema: {
        operationId: 'listCreditEntries',
        tags,
        summary: 'What was granted, spent and given back, newest first',
        querystring: PageQuery,
        response: { 200: success(listOf(CreditEntryRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor } }) => {
      const before = readCursor<number>(vault, 'credit entries', cursor)
      const found = await listEntries(db.queries, caller, { before, limit: limit + 1 })
      const page = found.slice(0, limit)
      const next_cursor = found.length > limit ? writeCursor(vault, 'credit entries', page.at(-1)!.number) : null
      const items = page.map(({ number: _, created_at, ...entry }) => ({
        ...entry,
        created_at: created_at.toISOString(),
      }))
      return { success: true as const, message: 'Credit entries', data: { items, next_cursor } }
    },
  )
}
