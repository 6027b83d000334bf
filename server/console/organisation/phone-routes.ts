import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import { lockCandidacy } from '../../campaigns/candidacy.ts'
import { chosenBy } from '../../campaigns/contact/inbound.ts'
import { type Place as Channel, listMessages } from '../../campaigns/contact/messages.ts'
import { handleReply } from '../../campaigns/contact/replies.ts'
import { channelNames } from '../../channels/channel.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../platform/database/database.ts'
import type { App } from '../../platform/http/server.ts'
import { invalid } from '../../platform/http/validation.ts'
import { noteChange } from '../auth/guards.ts'
import { pageOf } from '../paginate.ts'
import { answer, closed, PageQuery } from '../schema.ts'
import { candidateRecord, getCandidate, handsetRecord } from './phone.ts'
import { type HandsetPosition, listHandsets } from './simulator-phones.ts'

const CandidateParams = Type.Object({ candidate_id: Type.String({ pattern: '^CD_[A-Z0-9]{10,40}$' }) })

const HandsetsQuery = Type.Object({
  ...PageQuery.properties,
  campaign_id: Type.Optional(Type.String({ pattern: '^CP_[A-Z0-9]{10,40}$' })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
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

/** Candidates' conversations, and the simulator's handset: what arrives there, and what somebody answers in a candidate's stead. */
export function phoneRoutes(app: App, context: Context): void {
  const { db, vault } = context
  const viewer = { role: 'viewer' } as const

  app.get(
    '/orgs/:org/:mode/candidates/:candidate_id',
    { config: viewer, schema: { params: CandidateParams } },
    async ({ caller, place, params }) => {
      const candidate = await getCandidate(db.queries, caller, params.candidate_id)
      return answer('Candidate', await candidateRecord(db.queries, context, candidate, place.role))
    },
  )

  app.get(
    '/orgs/:org/:mode/phone',
    { config: viewer, schema: { querystring: HandsetsQuery } },
    async ({ caller, query: { campaign_id, q, ...page } }) => {
      requireTest(caller)
      const list = `phones of ${caller.orgId} ${campaign_id ?? ''} ${q ?? ''}`
      const found = await pageOf(
        vault,
        list,
        page,
        (after: HandsetPosition | undefined, limit) =>
          listHandsets(db.queries, caller, { campaign_id, q, after, limit }),
        (row) => ({ campaign: row.campaign_id, candidate: row.candidate_id }),
        handsetRecord,
      )
      return answer('Phones', found)
    },
  )

  app.get(
    '/orgs/:org/:mode/phone/:candidate_id',
    { config: viewer, schema: { params: CandidateParams } },
    async ({ caller, place, params }) => {
      requireTest(caller)
      const candidate = await getCandidate(db.queries, caller, params.candidate_id)
      return answer('Phone', await candidateRecord(db.queries, context, candidate, place.role))
    },
  )

  app.post(
    '/orgs/:org/:mode/phone/:candidate_id/reply',
    { config: { role: 'recruiter' }, schema: { params: CandidateParams, body: ReplyBody } },
    async (request) => {
      const { caller, params, body } = request
      requireTest(caller)
      const { value, text, step, client_id, channel } = body
      if ((value === undefined) === (text === undefined))
        throw invalid([{ path: 'body', message: 'must have either value or text, one of the two' }])
      await getCandidate(db.queries, caller, params.candidate_id)
      const record = await db.transaction(async (tx) => {
        const before = (await lockCandidacy(tx, params.candidate_id))!
        if (before.status !== 'pending') throw problem('CONFLICT', 'This conversation is over.')
        const last = await lastChannel(tx, params.candidate_id)
        const place = channel ?? last
        // As on a real phone: where there are no buttons, an option is answered with its number.
        const chosen = value ?? chosenBy(before, text!)
        const said = { ...(step ? { step } : {}), ...(chosen ? { value: chosen } : { text: text! }) }
        const input = { kind: 'reply' as const, ...said }
        const after = await handleReply(tx, context, before, {
          channel: place,
          input,
          providerId: `phone:${client_id}`,
        })
        await noteChange(tx, context, request, 'phone.reply', params.candidate_id)
        return candidateRecord(tx, context, after, request.place.role)
      })
      return answer('Replied', record)
    },
  )

  /** Where the candidate was spoken to last. */
  async function lastChannel(tx: Tx, candidateId: string): Promise<Channel> {
    const last = (await listMessages(tx, candidateId)).findLast(({ direction }) => direction === 'out')
    if (!last) throw problem('CONFLICT', 'Nothing has arrived on this phone yet.')
    return last.channel
  }
}

/** A real candidate answers for himself. */
function requireTest({ mode }: { mode: string }) {
  if (mode !== 'test') throw problem('NOT_FOUND', 'The phone is there in TEST alone: it is the simulator’s.')
}
