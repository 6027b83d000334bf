import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import type { Input } from '../../conversation/reply-meaning.ts'
import type { Tx } from '../../platform/database/database.ts'
import { readBody } from '../../platform/http/body.ts'
import { parseJson } from '../../platform/http/json.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { isStop } from '../../questions/prompts.ts'
import { LANGUAGES } from '../../questions/questions.ts'
import { type Candidacy, findCandidacy, lockCandidacy } from '../candidacy.ts'
import { handleReply } from '../contact/replies.ts'
import { openDoor } from './guards.ts'
import { candidateTurn, candidateView } from './view.ts'

/** What the candidate's own page asks. The token in the path is all the proof there is: nothing of it is ever logged. */
export const CANDIDATE_BASE = '/api/v1/candidate'

const closed = { additionalProperties: false }
const ReplyBody = Type.Object(
  {
    step: Type.Integer({ minimum: 1, description: 'The step of the question that this answers.' }),
    value: Type.Optional(Type.String({ maxLength: 20, description: 'Of the choice that was taken.' })),
    text: Type.Optional(Type.String({ maxLength: 4000 })),
    client_id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'The same one again does nothing.' }),
    have: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'The last step whose question the page holds: only what has changed and what lies beyond is answered.',
      }),
    ),
  },
  closed,
)
const LanguageBody = Type.Object({ language: Type.Enum([...LANGUAGES]) }, closed)

export function candidateRoutes(app: App, context: Context): void {
  const { db } = context
  const { admit, chargeAddress } = openDoor(context)
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return
    await chargeAddress(request, reply)
    request.rawBody = await readBody(request.raw)
  })
  app.addHook('preValidation', async (request) => {
    if (request.is404) return
    if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
    validateRequest(request, request.routeOptions.config)
  })

  app.get('/:token', async (request: FastifyRequest, reply: FastifyReply) => {
    const candidateId = await admit(request, reply)
    const candidate = (await findCandidacy(db.queries, candidateId))!
    return { success: true, data: await candidateView(db.queries, candidate) }
  })

  app.post('/:token/reply', { schema: { body: ReplyBody } }, async (request, reply) => {
    const { step, value, text, client_id, have } = request.body
    const candidateId = await admit(request, reply)
    const said = { ...(value === undefined ? {} : { value }), ...(text === undefined ? {} : { text }) }
    return answer(candidateId, { kind: 'reply', step, ...said }, { clientId: client_id, have })
  })

  app.post('/:token/language', { schema: { body: LanguageBody } }, async (request, reply) => {
    const candidateId = await admit(request, reply)
    return answer(candidateId, { kind: 'language', language: request.body.language })
  })

  async function answer(candidateId: Candidacy['candidate_id'], input: Input, asked: Asked = {}) {
    return db.transaction(async (tx: Tx) => {
      const before = (await lockCandidacy(tx, candidateId))!
      // Of a conversation that is over only a STOP still means something; the rest is not even written down.
      const over = before.status !== 'pending' && !isStopping(input)
      const reply = { channel: 'page', input, providerId: asked.clientId } as const
      const candidate = over ? before : await handleReply(tx, context, before, reply)
      const data = asked.have === undefined ? await candidateView(tx, candidate) : candidateTurn(candidate, asked.have)
      return { success: true, data }
    })
  }
}

function isStopping(input: Input): boolean {
  return input.kind === 'stop' || (input.kind === 'reply' && input.text !== undefined && isStop(input.text))
}

interface Asked {
  clientId?: string
  have?: number | undefined
}
