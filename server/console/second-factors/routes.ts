import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { beginSession } from '../auth/begin-session.ts'
import { hasConsoleAccess } from '../auth/console-access.ts'
import { recordRequestAudit, sourceOf } from '../auth/guards.ts'
import { SessionRecord } from '../auth/schema.ts'
import { sessionResponse } from '../auth/session-response.ts'
import { confirmSession } from '../auth/sessions.ts'
import { closed, successResponse } from '../schema.ts'
import {
  confirmAuthenticatorApp,
  countRecoveryCodes,
  createAuthenticatorApp,
  findAuthenticatorApp,
  removeAuthenticatorApp,
} from './authenticator-apps.ts'
import {
  addPasskey,
  listPasskeys,
  passkeyCreationOptions,
  passkeyRecord,
  passkeyRequestOptions,
  relyingParty,
  removePasskey,
  verifyPasskey,
} from './passkeys.ts'
import {
  FactorsRecord,
  NewAuthenticatorApp,
  NewPasskey,
  PasskeyOptions,
  PasskeyRecord,
  PasskeySignIn,
  RecoveryCodes,
} from './schema.ts'

const PASSKEY_REQUESTS_PER_VISITOR: Rule = {
  name: 'console-passkeys',
  kind: 'fixed',
  limit: 40,
  seconds: 300,
  listed: true,
}

/** Routes for passkeys and authenticator apps: setting up, signing in and confirming. */
export function secondFactorRoutes(app: App, context: Context): void {
  const { db, config, clock } = context
  const publicConfig = { role: 'public', visitorLimit: PASSKEY_REQUESTS_PER_VISITOR } as const
  const signedInConfig = { role: 'signed_in' } as const
  const changeConfig = { ...signedInConfig, recentSignIn: true } as const
  const optionsSchema = { response: { 200: success(PasskeyOptions) } }

  app.get(
    '/account/factors',
    { config: signedInConfig, schema: { response: { 200: success(FactorsRecord) } } },
    async ({ session }) => {
      // The factors belong to the person who owns the address, which the provider of an organisation does not prove.
      const { provider } = session
      const appId = provider ? undefined : await findAuthenticatorApp(db.queries, session.email)
      return successResponse('Factors', {
        passkeys: provider ? [] : (await listPasskeys(db.queries, session.email)).map(passkeyRecord),
        passkeys_supported: relyingParty(config) !== undefined,
        authenticator_app: appId !== undefined,
        recovery_codes_left: appId ? await countRecoveryCodes(db.queries, appId) : 0,
        provider: provider !== undefined,
      })
    },
  )

  app.post('/account/passkeys/options', { config: changeConfig, schema: optionsSchema }, async ({ session }) => {
    requireNoProvider(session)
    const options = await db.transaction((tx) => passkeyCreationOptions(tx, context, session))
    return successResponse('Options', { options })
  })

  app.post(
    '/account/passkeys',
    { config: changeConfig, schema: { body: NewPasskey, response: { 201: success(PasskeyRecord) } } },
    async (request, reply) => {
      const { session, body } = request
      requireNoProvider(session)
      const response = body.response as unknown as RegistrationResponseJSON
      const passkey = await db.transaction(async (tx) => {
        const added = await addPasskey(tx, context, session, { name: body.name, response })
        await recordRequestAudit(tx, context, request, 'passkey.add', added.passkey_id)
        return added
      })
      reply.status(201)
      return successResponse('Passkey added', passkeyRecord(passkey))
    },
  )

  app.delete(
    '/account/passkeys/:passkey_id',
    {
      config: changeConfig,
      schema: { params: Type.Object({ passkey_id: Type.String({ pattern: '^PK_[A-Z0-9]{10,40}$' }) }) },
    },
    async (request) => {
      requireNoProvider(request.session)
      await db.transaction(async (tx) => {
        const { passkey_id } = await removePasskey(tx, request.session.email, request.params.passkey_id)
        await recordRequestAudit(tx, context, request, 'passkey.remove', passkey_id)
      })
      return successResponse('Passkey removed', {})
    },
  )

  app.post(
    '/account/authenticator-app',
    { config: changeConfig, schema: { response: { 200: success(NewAuthenticatorApp) } } },
    async ({ session }) => {
      requireNoProvider(session)
      const created = await db.transaction((tx) => createAuthenticatorApp(tx, context, session.email))
      if (!created) throw problem('CONFLICT', 'You have an authenticator app; remove it before you set up another.')
      return successResponse('Enter the first code', { secret: created.secret, qr_code: await drawQrCode(created.uri) })
    },
  )

  app.post(
    '/account/authenticator-app/confirm',
    {
      config: changeConfig,
      schema: {
        body: Type.Object({ code: Type.String({ maxLength: 20 }) }, closed),
        response: { 200: success(RecoveryCodes) },
      },
    },
    async (request) => {
      requireNoProvider(request.session)
      const recovery_codes = await db.transaction(async (tx) => {
        const codes = await confirmAuthenticatorApp(tx, context, request.session.email, request.body.code)
        if (codes) await recordRequestAudit(tx, context, request, 'authenticator_app.add')
        return codes
      })
      if (!recovery_codes) throw invalid([{ path: 'code', message: 'is wrong; check the time of your device' }])
      return successResponse('Authenticator app added', { recovery_codes })
    },
  )

  app.delete('/account/authenticator-app', { config: changeConfig }, async (request) => {
    requireNoProvider(request.session)
    await db.transaction(async (tx) => {
      if (!(await removeAuthenticatorApp(tx, request.session.email)))
        throw problem('NOT_FOUND', 'You have no authenticator app.')
      await recordRequestAudit(tx, context, request, 'authenticator_app.remove')
    })
    return successResponse('Authenticator app removed', {})
  })

  app.post('/sign-in/passkey/options', { config: publicConfig, schema: optionsSchema }, async () => {
    const options = await db.transaction((tx) => passkeyRequestOptions(tx, context))
    return successResponse('Options', { options })
  })

  app.post(
    '/sign-in/passkey',
    { config: publicConfig, schema: { body: PasskeySignIn, response: { 200: success(SessionRecord) } } },
    async (request, reply) => {
      try {
        return await db.transaction(async (tx) => {
          const { email } = await verifyPasskey(tx, context, readResponse(request.body))
          if (!(await hasConsoleAccess(tx, email)))
            throw problem('UNAUTHORIZED', 'You are not a member of any organisation. Ask an owner to add you again.')
          const session = await beginSession(tx, context, request, reply, { email, how: 'passkey' })
          return sessionResponse(context, session, tx)
        })
      } catch (error) {
        await recordFailure(request, 'session.fail', error)
        throw error
      }
    },
  )

  app.post('/confirmation/passkey/options', { config: signedInConfig, schema: optionsSchema }, async ({ session }) => {
    requireNoProvider(session)
    const options = await db.transaction((tx) => passkeyRequestOptions(tx, context, session))
    return successResponse('Options', { options })
  })

  app.post(
    '/confirmation/passkey',
    { config: signedInConfig, schema: { body: PasskeySignIn, response: { 200: success(SessionRecord) } } },
    async (request) => {
      const { session } = request
      requireNoProvider(session)
      await db
        .transaction(async (tx) => {
          await verifyPasskey(tx, context, readResponse(request.body), session)
          await confirmSession(tx, clock, session.tokenHash)
          await recordRequestAudit(tx, context, request, 'session.confirm')
        })
        .catch(async (error) => {
          await recordFailure(request, 'session.confirm_fail', error, session.email)
          // The session is valid: 401 would sign the person out.
          throw error.code === 'UNAUTHORIZED' ? invalid([{ path: 'response', message: 'is not valid' }]) : error
        })
      return sessionResponse(context, session)
    },
  )

  function recordFailure(
    request: FastifyRequest,
    action: 'session.fail' | 'session.confirm_fail',
    error: unknown,
    email?: string,
  ) {
    if ((error as { code?: string }).code !== 'UNAUTHORIZED') return undefined
    const source = sourceOf(request)
    return context.audit.recordFailure({ action, reason: 'invalid passkey', email, source, requestId: request.id })
  }
}

function readResponse({ response }: { response: object }): AuthenticationResponseJSON {
  return response as AuthenticationResponseJSON
}

function requireNoProvider({ provider }: FastifyRequest['session']) {
  if (provider) throw problem('CONFLICT', 'You signed in with an identity provider, which manages how you sign in.')
}

async function drawQrCode(text: string): Promise<string> {
  const { encodeQR } = await import('qr')
  return `data:image/svg+xml;base64,${Buffer.from(encodeQR(text, 'svg')).toString('base64')}`
}
