import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { problem } from '../../api/problem.ts'
import { findBrand } from '../../branding/branding.ts'
import { brandedLook } from '../../branding/page-parts.ts'
import type { Context } from '../../context.ts'
import { formatSeconds } from '../../platform/clock.ts'
import { readRawBody } from '../../platform/http/body.ts'
import type { App } from '../../platform/http/server.ts'
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../platform/json.ts'
import { acceptedLanguage } from '../../platform/text/languages.ts'
import type { Pages } from '../../web-assets/assets.ts'
import { credentialUrl, findPublicCredential, type PublicCredential } from '../credentials.ts'
import { respondToPreflight } from '../cross-origin.ts'
import { baseUrl } from '../issuers/issuers.ts'
import { renderMessagePage } from '../pages/credential-html.ts'
import { credentialState } from '../pages/credential-state.ts'
import { languageParameter, translator } from '../pages/texts.ts'
import {
  authorizationServerMetadata,
  credentialOffer,
  issuerMetadata,
  offerLink,
  PRE_AUTHORIZED_GRANT,
  type WalletConfigurationId,
  walletFormats,
  walletPaths,
} from './metadata.ts'
import { createOffer, findOfferedCredential, isOpenOffer, redeemCode } from './offers.ts'
import { renderWalletPage } from './wallet-html.ts'

const WALLET_RULE: Rule = { name: 'wallets', kind: 'fixed', limit: 60, seconds: 60 }
const OFFER_RULE: Rule = { name: 'wallet-offers', kind: 'fixed', limit: 20, seconds: 60 }
const MAX_BODY_BYTES = 16 * 1024

/** An error in the format of OAuth 2.0, which wallets understand. */
class WalletError extends Error {
  readonly code: string
  readonly status: number

  constructor(code: string, message: string, status = 400) {
    super(message)
    this.code = code
    this.status = status
  }
}

/**
 * Serves credentials to wallets: OpenID for Verifiable Credential Issuance 1.0 with the pre-authorized code flow. The same links also work
 * for wallets of draft 13.
 */
export function walletRoutes(app: App, context: Context, pages: Pages): void {
  const { db, clock, config, limits } = context
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined))
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404 || request.method === 'OPTIONS') return
    const isPage = request.routeOptions.url?.endsWith('/wallet') === true
    const isOffer = request.method === 'POST' && isPage
    // Wallets on web pages read these responses too, also errors.
    if (!isPage) reply.header('access-control-allow-origin', '*')
    await enforceRateLimit(request, reply, isOffer ? OFFER_RULE : WALLET_RULE)
    request.rawBody = await readRawBody(request.raw, MAX_BODY_BYTES)
  })
  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof WalletError)) throw error
    if (error.status === 401) reply.header('www-authenticate', `Bearer error="${error.code}"`)
    return sendJson(reply.status(error.status), { error: error.code, error_description: error.message })
  })

  app.get('/.well-known/openid-credential-issuer', async (_request: FastifyRequest, reply: FastifyReply) =>
    sendJson(reply, issuerMetadata(baseUrl(config))),
  )
  app.get('/.well-known/oauth-authorization-server', async (_request: FastifyRequest, reply: FastifyReply) =>
    sendJson(reply, authorizationServerMetadata(baseUrl(config))),
  )

  // The choice of another language is a GET of the same address.
  app.get('/credentials/:credential_id/wallet', async (request: FastifyRequest, reply: FastifyReply) => {
    const { credential_id: id } = request.params as { credential_id: string }
    const language = languageParameter((request.query as { lang?: unknown }).lang)
    return reply.redirect(`/credentials/${encodeURIComponent(id)}${language ? `?lang=${language}` : ''}`, 303)
  })

  // A POST, so that servers that fetch links for a preview create no offers.
  app.post('/credentials/:credential_id/wallet', async (request: FastifyRequest, reply: FastifyReply) => {
    const { credential_id: id } = request.params as { credential_id: string }
    const { query, headers } = request
    const language =
      languageParameter((query as { lang?: unknown }).lang) ?? acceptedLanguage(headers['accept-language'])
    const credential = await findPublicCredential(db.queries, id)
    if (!credential || credentialState(credential, clock.now()) !== 'valid') {
      const t = translator(language)
      const parts = renderMessagePage(t('unknown_title'), t('unknown_text'), language)
      return pages.send(request, reply, 'credential', { ...parts, language, status: 404, inlineStyles: true })
    }
    const code = await db.transaction((tx) => createOffer(tx, context, credential.id))
    const brand = await findBrand(db.queries, credential.organisation.id)
    const parts = await renderWalletPage(credential, {
      link: offerLink(baseUrl(config), code),
      jsonUrl: `${credentialUrl(config, credential.id)}.json`,
      language,
      brand,
    })
    return pages.send(request, reply, 'credential', { ...parts, ...brandedLook(brand), language, inlineStyles: true })
  })

  app.get(`${walletPaths.offers}/:code`, async (request: FastifyRequest, reply: FastifyReply) => {
    const { code } = request.params as { code: string }
    if (!(await isOpenOffer(db.queries, context, code)))
      throw problem('NOT_FOUND', 'This offer was used or has expired. Open the page of the credential for a new one.')
    return sendJson(reply, credentialOffer(baseUrl(config), code))
  })

  respondToPreflight(app, walletPaths.token)
  respondToPreflight(app, walletPaths.credential)

  app.post(walletPaths.token, async (request: FastifyRequest, reply: FastifyReply) => {
    const form = new URLSearchParams(request.rawBody.toString())
    const grant = form.get('grant_type')
    if (grant === null) throw new WalletError('invalid_request', 'The parameter grant_type is missing.')
    if (grant !== PRE_AUTHORIZED_GRANT)
      throw new WalletError('unsupported_grant_type', `The grant_type must be ${PRE_AUTHORIZED_GRANT}.`)
    const code = form.get('pre-authorized_code')
    if (code === null) throw new WalletError('invalid_request', 'The parameter pre-authorized_code is missing.')
    const access = await db.transaction((tx) => redeemCode(tx, context, code))
    if (!access)
      throw new WalletError(
        'invalid_grant',
        'The pre-authorized code was used or has expired. Open the page of the credential for a new one.',
      )
    return sendJson(reply, { access_token: access.token, token_type: 'Bearer', expires_in: access.expiresInSeconds })
  })

  app.post(walletPaths.credential, async (request: FastifyRequest, reply: FastifyReply) => {
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    const credential = token === undefined ? undefined : await findOfferedCredential(db.queries, context, token)
    if (credential === undefined)
      throw new WalletError('invalid_token', 'The access token is missing, unknown or expired.', 401)
    if (credential === 'withdrawn')
      throw new WalletError('credential_request_denied', 'The credential was revoked or withdrawn.')
    const body = parseJsonOrUndefined(request.rawBody.toString())
    if (!isJsonObject(body)) throw new WalletError('invalid_credential_request', 'The body must be a JSON object.')
    const format = requestedFormat(body)
    const content = contentOf(credential, format)
    // Draft 13 names the format instead of a configuration, and expects a single credential.
    return sendJson(
      reply,
      body.format === undefined ? { credentials: [{ credential: content }] } : { format, credential: content },
    )
  })

  function requestedFormat({ credential_configuration_id: id, format }: JsonObject) {
    if (id !== undefined) {
      const known = typeof id === 'string' && Object.hasOwn(walletFormats, id)
      if (known) return walletFormats[id as WalletConfigurationId]
      throw new WalletError(
        'unknown_credential_configuration',
        `The credential_configuration_id must be ${Object.keys(walletFormats).join(' or ')}.`,
      )
    }
    const known = Object.values(walletFormats).find((each) => each === format)
    if (known) return known
    throw new WalletError('invalid_credential_request', 'Send the credential_configuration_id of the offer.')
  }

  async function enforceRateLimit(request: FastifyRequest, reply: FastifyReply, rule: Rule) {
    const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(request.ip), [rule], clock.now())
    if (rejectedBy === undefined) return
    reply.header('retry-after', retryAfter)
    throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
  }
}

function contentOf({ jwt, credential }: PublicCredential, format: 'jwt_vc_json' | 'ldp_vc'): string | JsonObject {
  return format === 'jwt_vc_json' ? jwt : credential
}

function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(body))
}
