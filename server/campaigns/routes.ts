import { runIdempotent } from '../access/idempotency.ts'
import type { Context } from '../context.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { NoBody } from '../platform/http/body.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, PageQuery, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { findClock } from '../test-clocks/test-clocks.ts'
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
import { revokeCandidateLink } from './candidate-link.ts'
import { getContactRecord } from './contact/contact-record.ts'
import { balanceOf, listCreditEntries } from './credits.ts'
import { type Enrolment, enrolCandidates, enrolInCampaign, requireChannelCredentials } from './enrolment.ts'
import { enrolmentInputErrors, enrolmentRuleErrors } from './enrolment-input.ts'
import {
  CampaignBody,
  CampaignParams,
  CampaignRecord,
  CandidateParams,
  CandidateRecord,
  ContactRecordSchema,
  CreditBalance,
  CreditEntryRecord,
  EnrolmentBody,
  EnrolmentResponse,
  RevokedLink,
} from './schema.ts'

export function campaignRoutes(app: App, context: Context): void {
  const { db, clock, vault } = context
  const readAccess = { scope: 'campaigns:read', limit: 'reads', readsReplica: true } as const
  const writeAccess = { scope: 'campaigns:write', limit: 'campaignWrites' } as const
  const enrolAccess = {
    ...writeAccess,
    idempotent: 'required',
    extraValidation: enrolmentInputErrors,
    businessRuleErrors: enrolmentRuleErrors,
  } as const
  const tags = ['Campaigns']

  app.post(
    '/campaigns',
    {
      config: { ...enrolAccess, errors: ['INSUFFICIENT_CREDITS', 'NOT_FOUND', 'CONFLICT', 'LIMIT_EXCEEDED'] },
      schema: {
        operationId: 'createCampaign',
        tags,
        summary: 'Create a campaign',
        description:
          'The mandate must be `ready`. Each candidate costs one credit. If one candidate is invalid, the whole request is rejected, and no candidate is enrolled or charged. Candidates are contacted from `starts_at`, between 09:00 and 20:00 IST; in TEST mode at any time, unless the campaign has a test clock.',
        body: CampaignBody,
        response: { 202: success(EnrolmentResponse) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { candidates, ...input } = request.body
        const created = await createCampaign(tx, caller, clock, input, caller.via)
        await requireChannelCredentials(tx, caller, context, created, candidates ?? [])
        if (!candidates) return { status: 202, body: await enrolmentResponse(tx, 'Campaign created', created) }
        const { campaign, enrolment } = await enrolCandidates(tx, caller, context, created, candidates)
        return { status: 202, body: await enrolmentResponse(tx, 'Campaign created', campaign, enrolment) }
      })
    },
  )

  app.post(
    '/campaigns/:campaign_id/candidates',
    {
      config: { ...enrolAccess, errors: ['INSUFFICIENT_CREDITS', 'CONFLICT', 'LIMIT_EXCEEDED'] },
      schema: {
        operationId: 'enrolCandidates',
        tags,
        summary: 'Enrol candidates in a campaign',
        description:
          'Candidates whose phone number or `external_candidate_id` is already in the campaign are skipped and not charged. A completed campaign becomes active again.',
        params: CampaignParams,
        body: EnrolmentBody,
        response: { 202: success(EnrolmentResponse) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { candidates } = request.body
        const { campaign, enrolment } = await enrolInCampaign(
          tx,
          caller,
          context,
          request.params.campaign_id,
          candidates,
        )
        return { status: 202, body: await enrolmentResponse(tx, 'Candidates enrolled', campaign, enrolment) }
      })
    },
  )

  app.get(
    '/campaigns',
    {
      config: readAccess,
      schema: {
        operationId: 'listCampaigns',
        tags,
        summary: 'List campaigns',
        description: 'Lists the newest campaigns first.',
        querystring: PageQuery,
        response: { 200: success(listOf(CampaignRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor } }) => {
      const lastId = readCursor<string>(vault, 'campaigns', cursor)
      const campaigns = await listCampaigns(db.queries, caller, { before: lastId, limit: limit + 1 })
      const page = campaigns.slice(0, limit)
      const next_cursor = campaigns.length > limit ? writeCursor(vault, 'campaigns', page.at(-1)!.campaign_id) : null
      const items = await Promise.all(page.map((campaign) => recordOf(db.queries, campaign)))
      return { success: true as const, message: 'Campaigns', data: { items, next_cursor } }
    },
  )

  app.get(
    '/campaigns/:campaign_id',
    {
      config: readAccess,
      schema: {
        operationId: 'getCampaign',
        tags,
        summary: 'Get a campaign',
        params: CampaignParams,
        response: { 200: success(CampaignRecord) },
      },
    },
    async ({ caller, params }) => {
      const campaign = await getCampaign(db.queries, caller, params.campaign_id)
      return { success: true as const, message: 'Campaign', data: await recordOf(db.queries, campaign) }
    },
  )

  app.get(
    '/campaigns/:campaign_id/candidates',
    {
      config: readAccess,
      schema: {
        operationId: 'listCandidates',
        tags,
        summary: 'List the candidates of a campaign',
        description: 'Lists the most recently enrolled candidates first.',
        params: CampaignParams,
        querystring: PageQuery,
        response: { 200: success(listOf(CandidateRecord)) },
      },
    },
    async ({ caller, params, query: { limit, cursor } }) => {
      const { campaign_id } = await getCampaign(db.queries, caller, params.campaign_id)
      const cursorScope = `candidates of ${campaign_id}`
      const lastId = readCursor<string>(vault, cursorScope, cursor)
      const candidates = await listCandidates(db.queries, campaign_id, { before: lastId, limit: limit + 1 })
      const items = candidates.slice(0, limit)
      const next_cursor = candidates.length > limit ? writeCursor(vault, cursorScope, items.at(-1)!.candidate_id) : null
      return { success: true as const, message: 'Candidates', data: { items, next_cursor } }
    },
  )

  app.post(
    '/campaigns/:campaign_id/candidates/:candidate_id/revoke-link',
    {
      config: { ...writeAccess, idempotent: 'optional' },
      schema: {
        operationId: 'revokeCandidateLink',
        tags,
        summary: "Revoke a candidate's link",
        description:
          'Use it if another person has the personal link. The old link stops working at once, and the candidate gets a new one with the next message. The link in emails with which the candidate opts out is replaced, too.',
        params: CandidateParams,
        body: NoBody,
        response: { 200: success(RevokedLink) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { campaign_id, candidate_id } = request.params
        await revokeCandidateLink(tx, context, caller, campaign_id, candidate_id)
        return { status: 200, body: { success: true, message: 'Link revoked', data: { candidate_id } } }
      })
    },
  )

  app.get(
    '/campaigns/:campaign_id/candidates/:candidate_id/contact-record',
    {
      config: readAccess,
      schema: {
        operationId: 'getContactRecord',
        tags,
        summary: 'Get the contact record of a candidate',
        description:
          'Proves how the candidate was contacted: each message with its time, text and registered template, and the basis of the contact. After the erasure of the person, the texts and the basis are gone.',
        params: CandidateParams,
        response: { 200: success(ContactRecordSchema) },
      },
    },
    async ({ caller, params: { campaign_id, candidate_id } }) => {
      const data = await db.transaction((tx) => getContactRecord(tx, caller, campaign_id, candidate_id))
      return { success: true as const, message: 'Contact record', data }
    },
  )

  for (const [verb, change, message, summary] of [
    ['pause', pauseCampaign, 'Campaign paused', 'Pause a campaign'],
    ['resume', resumeCampaign, 'Campaign resumed', 'Resume a campaign'],
  ] as const) {
    app.post(
      `/campaigns/:campaign_id/${verb}`,
      {
        config: { ...writeAccess, idempotent: 'optional' },
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
        await runIdempotent(context, request, reply, async (tx, caller) => {
          const { campaign_id } = request.params as { campaign_id: string }
          const campaign = await change(tx, caller, clock, campaign_id)
          return { status: 200, body: { success: true, message, data: await recordOf(tx, campaign) } }
        })
      },
    )
  }

  app.delete(
    '/campaigns/:campaign_id',
    {
      config: { ...writeAccess, idempotent: 'optional' },
      schema: {
        operationId: 'archiveCampaign',
        tags,
        summary: 'Archive a campaign',
        description: 'No further candidates are contacted. Pending results become `failed` with the reason `stopped`.',
        params: CampaignParams,
        response: { 200: success(CampaignRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const campaign = await archiveCampaign(tx, caller, clock, request.params.campaign_id)
        const data = await recordOf(tx, campaign)
        return { status: 200, body: { success: true, message: 'Campaign archived', data } }
      })
    },
  )

  async function enrolmentResponse(tx: Tx, message: string, campaign: Campaign, enrolment?: Enrolment) {
    const data = { campaign: await recordOf(tx, campaign), ...(enrolment ? { enrolment } : {}) }
    return { success: true, message, data }
  }

  async function recordOf(queries: Queries, campaign: Campaign) {
    return campaignRecord(campaign, (await findClock(queries, clock, campaign.test_clock_id)).now())
  }
}

export function creditRoutes(app: App, { db, vault }: Context): void {
  const access = { scope: 'campaigns:read', limit: 'reads', readsReplica: true } as const
  const tags = ['Credits']

  app.get(
    '/credits',
    {
      config: access,
      schema: {
        operationId: 'getCredits',
        tags,
        summary: 'Get the credit balance',
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
      config: access,
      schema: {
        operationId: 'listCreditEntries',
        tags,
        summary: 'List credit entries',
        description: 'Lists grants, enrolments and refunds, newest first.',
        querystring: PageQuery,
        response: { 200: success(listOf(CreditEntryRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor } }) => {
      const lastNumber = readCursor<number>(vault, 'credit entries', cursor)
      const entries = await listCreditEntries(db.queries, caller, { before: lastNumber, limit: limit + 1 })
      const page = entries.slice(0, limit)
      const next_cursor = entries.length > limit ? writeCursor(vault, 'credit entries', page.at(-1)!.number) : null
      const items = page.map(({ number: _, created_at, ...entry }) => ({
        ...entry,
        created_at: created_at.toISOString(),
      }))
      return { success: true as const, message: 'Credit entries', data: { items, next_cursor } }
    },
  )
}
