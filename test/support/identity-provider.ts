import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { decodeJwt, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import type { Cleanup } from './cleanup.ts'
import { CONSOLE_API } from './console.ts'

export const CLIENT = { client_id: 'attestry', client_secret: 'client-secret-of-the-tests' }

/** The person who is signed in at the provider. */
interface ProviderAccount {
  sub: string
  [claim: string]: unknown
}

export interface TestIdentityProvider {
  issuer: string
  /** The person whom the provider authenticates next. */
  account: ProviderAccount
  /** Claims that replace those of the ID tokens, which are signed again with the provider's key. */
  replacedClaims: Record<string, unknown> | undefined
  /** Values that replace those of the metadata. */
  replacedMetadata: Record<string, unknown>
  /** Whether the metadata is compressed, although the client does not accept that. */
  isCompressed: boolean
  /** The error that the provider returns to the redirect URI instead of a code. */
  error: string | undefined
  idTokenSeconds: number
  /** Requests that the provider received, such as `GET /auth`. */
  requests: string[]
  /** Replaces the signing key. */
  rotateKeys(): Promise<void>
  /** Stops and restarts the server on the same port. */
  stop(): Promise<void>
  start(): Promise<void>
}

/**
 * Starts an OpenID Connect provider (oidc-provider) on loopback, which authenticates `account` without asking. The organisation and the
 * operators of the server are its clients.
 */
export async function startIdentityProvider(
  t: Cleanup,
  serverUrl: string,
  orgId = 'ORG_NONE',
): Promise<TestIdentityProvider> {
  let handle: ReturnType<Provider['callback']> | undefined
  const openServer = () => createServer((request, response) => respond(request, response))
  let server = openServer()
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`
  const cookieKeys = [randomBytes(16).toString('hex')]
  let provider: Provider
  let signingKey: JWK

  const idp: TestIdentityProvider = {
    issuer,
    account: { sub: 'account-1', email: 'asha@metro.example', email_verified: true },
    replacedClaims: undefined,
    replacedMetadata: {},
    isCompressed: false,
    error: undefined,
    idTokenSeconds: 600,
    requests: [],
    async rotateKeys() {
      const { privateKey } = await generateKeyPair('RS256', { extractable: true })
      signingKey = { ...(await exportJWK(privateKey)), kid: randomBytes(4).toString('hex'), use: 'sig', alg: 'RS256' }
      provider = createProvider()
      handle = provider.callback()
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    async start() {
      server = openServer()
      await listen(port)
    },
  }
  await idp.rotateKeys()
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return idp

  function respond(
    request: Parameters<NonNullable<typeof handle>>[0],
    response: Parameters<NonNullable<typeof handle>>[1],
  ) {
    const url = new URL(request.url!, issuer)
    idp.requests.push(`${request.method} ${url.pathname}`)
    if (!url.pathname.startsWith('/interaction/')) return handle!(request, response)
    const result = idp.error
      ? { error: idp.error }
      : { login: { accountId: idp.account.sub, ts: Math.floor(Date.now() / 1000) } }
    void provider.interactionFinished(request, response, result)
  }

  function createProvider(): Provider {
    const created = new Provider(issuer, {
      clients: [
        {
          ...CLIENT,
          redirect_uris: [orgId, 'operators'].map((name) => `${serverUrl}${CONSOLE_API}/sign-in/callback/${name}`),
          post_logout_redirect_uris: [`${serverUrl}/console/sign-in`],
        },
      ],
      jwks: { keys: [signingKey] },
      cookies: { keys: cookieKeys },
      findAccount: (_context: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ ...idp.account, sub }),
      }),
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified', 'xms_edov'],
        profile: ['name'],
        groups: ['groups'],
      },
      scopes: ['openid', 'email', 'profile', 'groups'],
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      ttl: { IdToken: () => idp.idTokenSeconds, AccessToken: 600, Grant: 600, Interaction: 600, Session: 600 },
      renderError: (context: { body: unknown }, out: object) => {
        context.body = out
      },
      async loadExistingGrant(context: { oidc: any }) {
        const { client, session } = context.oidc
        const grant = new created.Grant({ clientId: client.clientId, accountId: session.accountId })
        grant.addOIDCScope('openid email profile groups')
        await grant.save()
        return grant
      },
    })
    created.use(async (context, next) => {
      await next()
      if (context.path === '/.well-known/openid-configuration') {
        Object.assign(context.body, idp.replacedMetadata)
        if (idp.isCompressed) {
          context.set('content-encoding', 'gzip')
          context.body = gzipSync(JSON.stringify(context.body))
          context.type = 'application/json'
        }
      }
      if (context.path !== '/token' || !idp.replacedClaims || !context.body?.id_token) return
      const claims = { ...decodeJwt(context.body.id_token), ...idp.replacedClaims }
      context.body.id_token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: signingKey.kid! })
        .sign(await importJWK(signingKey, 'RS256'))
    })
    return created
  }
}

/** Follows the redirects of the provider as a browser does, and returns the URL of the callback. */
export async function authorizeAtProvider(idp: TestIdentityProvider, authorizationUrl: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = authorizationUrl
  for (let redirects = 0; redirects < 10; redirects++) {
    if (!url.startsWith(idp.issuer)) return url
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      cookies.set(name!, value!)
    }
    const location = response.headers.get('location')
    if (!location) throw new Error(`${response.status} ${url}: ${await response.text()}`)
    url = new URL(location, url).href
  }
  throw new Error('too many redirects')
}
