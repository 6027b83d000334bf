import { Type } from 'typebox'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import { lockCandidacy } from '../../campaigns/candidacy.ts'
import { matchCurrentChoice } from '../../campaigns/contact/inbound.ts'
import { type ConversationChannel as Channel, listMessages } from '../../campaigns/contact/messages.ts'
import { handleReply } from '../../campaigns/contact/replies.ts'
import { channelNames } from '../../channels/channel.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../platform/database/database.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { refreshCandidateList } from '../candidates/candidate-list.ts'
import { SearchText } from '../candidates/routes.ts'
import { CandidateConversation, SimulatorPhone } from '../organisation/schema.ts'
import { paginate } from '../paginate.ts'
import { closed, successResponse } from '../schema.ts'
import { candidateRecord, getCandidate, simulatorPhoneRecord, withPrivateTexts } from './phone.ts'
import { listSimulatorPhones, type PhonePosition } from './simulator-phones.ts'

const CandidateParams = Type.Object({ candidate_id: Type.String({ pattern: '^CD_[A-Z0-9]{10,40}$' }) })

const PhonesQuery = Type.Object({
  ...PageQuery.properties,
  campaign_id: Type.Optional(Type.String({ pattern: '^CP_[A-Z0-9]{10,40}$' })),
  q: SearchText,
})

const ReplyBody = Type.Object(
  {
    channel: Type.Optional(Type.Enum([...channelNames, 'page'])),
    value: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 4000 })),
    step: Type.Optional(Type.Integer({ minimum: 1 })),
    client_id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  },
  closed,
)

/** Routes for candidates' conversations and for the simulator's phones, on which console users reply as the candidate. */
export function phoneRoutes(app: App, context: Context): void {
  const { db, vault } = context
  const viewerConfig = { role: 'viewer' } as const

  app.get(
    '/orgs/:org/:mode/candidates/:candidate_id',
    { config: viewerConfig, schema: { params: CandidateParams, response: { 200: success(CandidateConversation) } } },
    async ({ caller, orgAccess, params }) => {
      const candidate = await getCandidate(db.queries, caller, params.candidate_id)
      return successResponse('Candidate', await candidateRecord(db.queries, context, candidate, orgAccess))
    },
  )

  app.get(
    '/orgs/:org/:mode/phone',
    { config: viewerConfig, schema: { querystring: PhonesQuery, response: { 200: success(listOf(SimulatorPhone)) } } },
    async ({ caller, orgAccess, query: { campaign_id, q, ...page } }) => {
      requireTestMode(caller)
      if (q !== undefined) await refreshCandidateList(context, caller)
      const listKey = `phones of ${caller.orgId} ${campaign_id ?? ''} ${q ?? ''}`
      const resultPage = await paginate(
        vault,
        listKey,
        page,
        async (after: PhonePosition | undefined, limit) => {
          const rows = await listSimulatorPhones(db.queries, context, caller, { campaign_id, q, after, limit })
          return withPrivateTexts(db.queries, caller, rows, orgAccess)
        },
        (row) => ({ campaign: row.campaign_id, candidate: row.candidate_id }),
        simulatorPhoneRecord,
      )
      return successResponse('Phones', resultPage)
    },
  )

  app.get(
    '/orgs/:org/:mode/phone/:candidate_id',
    { config: viewerConfig, schema: { params: CandidateParams, response: { 200: success(CandidateConversation) } } },
    async ({ caller, orgAccess, params }) => {
      requireTestMode(caller)
      const candidate = await getCandidate(db.queries, caller, params.candidate_id)
      return successResponse('Phone', await candidateRecord(db.queries, context, candidate, orgAccess))
    },
  )

  app.post(
    '/orgs/:org/:mode/phone/:candidate_id/reply',
    {
      config: { role: 'recruiter' },
      schema: { params: CandidateParams, body: ReplyBody, response: { 200: success(CandidateConversation) } },
    },
    async (request) => {
      const { caller, params, body } = request
      requireTestMode(caller)
      const { value, text, step, client_id, channel } = body
      if ((value === undefined) === (text === undefined))
        throw invalid([{ path: 'body', message: 'must have either `value` or `text`, but not both' }])
      await getCandidate(db.queries, caller, params.candidate_id)
      const record = await db.transaction(async (tx) => {
        const candidacy = (await lockCandidacy(tx, params.candidate_id))!
        if (candidacy.status !== 'pending') throw problem('CONFLICT', 'This conversation has ended.')
        const channelOfLastMessage = await lastChannel(tx, params.candidate_id)
        // As on a real phone: on channels without buttons, an option is chosen by its number.
        const chosenValue = value ?? matchCurrentChoice(candidacy, text!)
        const content = { ...(step ? { step } : {}), ...(chosenValue ? { value: chosenValue } : { text: text! }) }
        const input = { kind: 'reply' as const, ...content }
        const updatedCandidacy = await handleReply(tx, context, candidacy, {
          channel: channel ?? channelOfLastMessage,
          input,
          providerId: `phone:${client_id}`,
        })
        await recordRequestAudit(tx, context, request, 'phone.reply', params.candidate_id)
        return candidateRecord(tx, context, updatedCandidacy, request.orgAccess)
      })
      return successResponse('Reply sent', record)
    },
  )

  /** Returns the channel of the last message to the candidate. Confirmation codes are not part of the conversation. */
  async function lastChannel(tx: Tx, candidateId: string): Promise<Channel> {
    const lastMessage = (await listMessages(tx, candidateId)).findLast(
      ({ direction, content }) =>
        direction === 'out' && !(Array.isArray(content) && content.some(({ isCode }) => isCode)),
    )
    if (!lastMessage) throw problem('CONFLICT', 'This candidate has not received a message yet.')
    return lastMessage.channel
  }
}

/** Rejects LIVE mode, in which only the candidates themselves reply. */
function requireTestMode({ mode }: { mode: string }) {
  if (mode !== 'test') throw problem('NOT_FOUND', 'The simulator phone is available in TEST mode only.')
}
