import { lockCandidacy } from '../../campaigns/candidacy.ts'
import { candidateGuards } from '../../campaigns/candidate-page/guards.ts'
import { candidateResponse } from '../../campaigns/candidate-page/schema.ts'
import { skillId } from '../../catalogue/ids.ts'
import type { Context } from '../../context.ts'
import { isPageToken } from '../../embeds/embed-sessions.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { acceptedLanguage } from '../../platform/text/languages.ts'
import { success } from '../../verification/routes.ts'
import { successResponse, TokenParams } from '../../verification/schema.ts'
import { getSession, lockSession } from '../../verification/sessions.ts'
import { CandidateConsentBody, CandidateCredentials, SessionConsentInput, SessionCredentials } from '../schema.ts'
import { candidateSource, findSource, sessionSource } from '../sources.ts'
import { type CredentialOffer, decideCredentials, readOffer } from './consents.ts'

/** Routes of the verification API for the student's decision about credentials. */
export function sessionCredentialRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Credentials']

  app.get(
    '/verify/:sessionToken/credentials',
    {
      config: { auth: 'path' },
      schema: {
        operationId: 'getSessionCredentials',
        tags,
        summary: 'Get the credentials of a session',
        description: 'Returns the verified skills, what the student decided, and the credentials that were issued.',
        params: TokenParams,
        response: { 200: successResponse(SessionCredentials) },
      },
    },
    async ({ sessionCaller }) => {
      const session = await getSession(db.queries, clock, sessionCaller.token!, sessionCaller.scope)
      const source = await sessionSource(db.queries, session)
      return success(sessionOffer(await readOffer(db.queries, context, source)), 'Credentials')
    },
  )

  app.post(
    '/verify/:sessionToken/credentials',
    {
      config: { auth: 'path' },
      schema: {
        operationId: 'decideSessionCredentials',
        tags,
        summary: 'Store whether the student wants credentials',
        description:
          'Send the decision of the student, after the student has read what a credential shows. Credentials are issued at once if the verification has ended, otherwise when it ends. Without this request, nothing is issued or published. `wanted: false` revokes the credentials of the session and deletes their content.',
        params: TokenParams,
        body: SessionConsentInput,
        response: { 200: successResponse(SessionCredentials) },
      },
    },
    async (request) => {
      const { sessionCaller, headers, routeOptions } = request
      const offer = await db.transaction(async (tx) => {
        // Locked, so that a session that ends at the same time sees the consent.
        const session = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope)
        validateRequest(request, routeOptions.config)
        const { wanted, showName = false } = request.body
        const source = await sessionSource(tx, session)
        const language = acceptedLanguage(headers['accept-language'])
        const hidesLink = isPageToken(sessionCaller.token!)
        return decideCredentials(tx, context, source, { wanted, showName, language, hidesLink })
      })
      return success(sessionOffer(offer), offer.consent?.wanted ? 'Consent stored' : 'Consent withdrawn')
    },
  )
}

/** Routes of the candidate's page about credentials. */
export function candidateCredentialRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const { authenticate } = candidateGuards(context)
  const response = { 200: candidateResponse(CandidateCredentials) }

  app.get('/:token/credentials', { schema: { response } }, async (request, reply) => {
    const candidateId = await authenticate(request, reply)
    const source = (await findSource(db.queries, 'candidate', candidateId, clock))!
    return { success: true as const, data: candidateOffer(await readOffer(db.queries, context, source)) }
  })

  app.post('/:token/credentials', { schema: { body: CandidateConsentBody, response } }, async (request, reply) => {
    const { wanted, show_name: showName = false } = request.body
    // Withdrawing works while the organisation is paused, too.
    const candidateId = await authenticate(request, reply, { allowWhilePaused: !wanted })
    const offer = await db.transaction(async (tx) => {
      // Locked, so that a conversation that ends at the same time sees the consent.
      const candidacy = (await lockCandidacy(tx, candidateId))!
      const { language } = candidacy.state
      const hidesLink = isPageToken((request.params as { token: string }).token)
      return decideCredentials(tx, context, candidateSource(candidacy), { wanted, showName, language, hidesLink })
    })
    return { success: true as const, data: candidateOffer(offer) }
  })
}

function sessionOffer(offer: CredentialOffer) {
  const skillOf = ({ number, name }: { number: number; name: string }) => ({ skillId: skillId(number), name })
  return {
    enabled: offer.isEnabled,
    wanted: offer.consent?.wanted ?? null,
    showName: offer.consent?.show_name ?? false,
    eligible: offer.eligible.map((skill) => ({ skill: skillOf(skill) })),
    pending: offer.pending.map((skill) => ({ skill: skillOf(skill) })),
    credentials: offer.credentials.map(({ skill, ...credential }) => ({ ...credential, skill: skillOf(skill) })),
    profileUrl: offer.profileUrl,
    manageUrl: offer.manageUrl,
  }
}

function candidateOffer(offer: CredentialOffer) {
  const skillOf = ({ number, name }: { number: number; name: string }) => ({ skill_id: skillId(number), name })
  return {
    enabled: offer.isEnabled,
    wanted: offer.consent?.wanted ?? null,
    show_name: offer.consent?.show_name ?? false,
    eligible: offer.eligible.map((skill) => ({ skill: skillOf(skill) })),
    pending: offer.pending.map((skill) => ({ skill: skillOf(skill) })),
    credentials: offer.credentials.map(({ skill, ...credential }) => ({ ...credential, skill: skillOf(skill) })),
    profile_url: offer.profileUrl,
    manage_url: offer.manageUrl,
  }
}
