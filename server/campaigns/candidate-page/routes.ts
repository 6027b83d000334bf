import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import type { ConversationInput } from '../../conversation/reply-meaning.ts'
import type { Tx } from '../../platform/database/database.ts'
import { readBody } from '../../platform/http/body.ts'
import { parseJson } from '../../platform/http/json.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { findClock } from '../../test-clocks/test-clocks.ts'
import { type Candidacy, findCandidacy, lockCandidacy } from '../candidacy.ts'
import { handleReply, isOptOut } from '../contact/replies.ts'
import { candidateGuards } from './guards.ts'
import { CandidateTurn, CandidateView, candidateResponse, LanguageBody, ReplyBody } from './schema.ts'
import { candidateTurn, candidateView } from './view.ts'

/** The API of the candidate's page. The token in the path is the only credential and is never logged. */
export const CANDIDATE_BASE = '/api/v1/candidate'

const MAX_BODY_BYTES = 64 * 1024

export function candidateRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const { authenticate, limitAddress, requireKnownToken } = candidateGuards(context)
  // The response schemas only provide types here: `JSON.stringify` is fast enough.
  app.setSerializerCompiler((() => JSON.stringify) as never)
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return
    await limitAddress(request, reply)
    await requireKnownToken(request, reply, MAX_BODY_BYTES)
    request.rawBody = await readBody(request.raw, MAX_BODY_BYTES)
  })
  app.addHook('preValidation', async (request) => {
    if (request.is404) return
    if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
    validateRequest(request, request.routeOptions.config)
  })

  app.get('/:token', { schema: { response: { 200: candidateResponse(CandidateView) } } }, async (request, reply) => {
    const candidateId = await authenticate(request, reply)
    const candidate = (await findCandidacy(db.queries, candidateId))!
    const now = (await findClock(db.queries, clock, candidate.test_clock_id)).now()
    return { success: true as const, data: await candidateView(db.queries, candidate, now) }
  })

  app.post(
    '/:token/reply',
    { schema: { body: ReplyBody, response: { 200: candidateResponse(Type.Union([CandidateView, CandidateTurn])) } } },
    async (request, reply) => {
      const { step, value, text, client_id, have } = request.body
      const content = { ...(value === undefined ? {} : { value }), ...(text === undefined ? {} : { text }) }
      const input: ConversationInput = { kind: 'reply', step, ...content }
      const candidateId = await authenticate(request, reply, { allowWhilePaused: isOptOut(input) })
      return handleInput(candidateId, input, { clientId: client_id, lastKnownStep: have })
    },
  )

  app.post(
    '/:token/language',
    {
      schema: { body: LanguageBody, response: { 200: candidateResponse(Type.Union([CandidateView, CandidateTurn])) } },
    },
    async (request, reply) => {
      const candidateId = await authenticate(request, reply)
      return handleInput(candidateId, { kind: 'language', language: request.body.language })
    },
  )

  async function handleInput(
    candidateId: Candidacy['candidate_id'],
    input: ConversationInput,
    options: ReplyOptions = {},
  ) {
    return db.transaction(async (tx: Tx) => {
      const candidateBefore = (await lockCandidacy(tx, candidateId))!
      // After the end of the conversation, only an opt-out has an effect; other replies are not stored.
      const isIgnored = candidateBefore.status !== 'pending' && !isOptOut(input)
      const reply = { channel: 'page', input, providerId: options.clientId } as const
      const candidate = isIgnored ? candidateBefore : await handleReply(tx, context, candidateBefore, reply)
      const now = (await findClock(tx, clock, candidate.test_clock_id)).now()
      const data =
        options.lastKnownStep === undefined
          ? await candidateView(tx, candidate, now)
          : candidateTurn(candidate, now, options.lastKnownStep)
      return { success: true as const, data }
    })
  }
}

interface ReplyOptions {
  clientId?: string
  /** The last step whose question the page has already received. */
  lastKnownStep?: number | undefined
}
