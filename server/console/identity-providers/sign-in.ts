import type { Context } from '../../context.ts'
import { type IdentityProvider, openClientSecret } from './identity-providers.ts'
import { type ClientSettings, ProviderUnreachableError, withOidcClient } from './oidc-client.ts'
import { redirectUri } from './paths.ts'
import { type ProviderClaims, SignInRejectedError } from './provider-accounts.ts'
import { ATTEMPT_VALID_MS, type SignInAttempt } from './sign-in-attempts.ts'

/** After a request for a fresh authentication, the person must have authenticated within this time. */
const MAX_AUTHENTICATION_AGE_SECONDS = 300

type SignInDeps = Pick<Context, 'config' | 'clock' | 'vault'>

function clientSettings(deps: SignInDeps, provider: IdentityProvider): ClientSettings {
  return { issuer: provider.issuer, clientId: provider.client_id, clientSecret: openClientSecret(deps, provider) }
}

export interface StartedSignIn {
  /** The page of the provider. */
  url: string
  attempt: SignInAttempt
}

/** Starts a sign-in: authorization code flow with PKCE, state and nonce. */
export function startSignIn(
  deps: SignInDeps,
  provider: IdentityProvider,
  options: Pick<SignInAttempt, 'returnTo' | 'fresh' | 'previousSession'>,
): Promise<StartedSignIn> {
  return withOidcClient(deps, clientSettings(deps, provider), async (client, library) => {
    const attempt: SignInAttempt = {
      ...options,
      providerId: provider.provider_id,
      state: library.randomState(),
      nonce: library.randomNonce(),
      codeVerifier: library.randomPKCECodeVerifier(),
      expiresAt: deps.clock.now() + ATTEMPT_VALID_MS,
    }
    const url = library.buildAuthorizationUrl(client, {
      redirect_uri: redirectUri(deps.config.publicUrl!, provider.org_id),
      scope: scopeFor(client.serverMetadata().scopes_supported, provider.group_claim),
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(attempt.codeVerifier),
      code_challenge_method: 'S256',
      ...(options.fresh ? { prompt: 'login', max_age: String(MAX_AUTHENTICATION_AGE_SECONDS) } : {}),
    })
    return { url: url.href, attempt }
  })
}

/** Some providers return groups only if a scope with the name of the claim is requested. */
function scopeFor(supportedScopes: string[] | undefined, groupClaim: string): string {
  const scopes = ['openid', 'email', 'profile']
  return [...scopes, ...(supportedScopes?.includes(groupClaim) ? [groupClaim] : [])].join(' ')
}

export interface Authentication {
  claims: ProviderClaims
  /** Time of the authentication in epoch milliseconds; null if the provider does not state it. */
  authenticatedAt: number | null
  endSessionEndpoint: string | null
}

/** Exchanges the code in the URL of the callback for tokens, and returns the claims about the person. Throws a SignInRejectedError. */
export async function finishSignIn(
  deps: SignInDeps,
  provider: IdentityProvider,
  attempt: SignInAttempt,
  callbackQuery: string,
): Promise<Authentication> {
  const callbackUrl = new URL(redirectUri(deps.config.publicUrl!, provider.org_id))
  callbackUrl.search = callbackQuery
  return withOidcClient(deps, clientSettings(deps, provider), async (client, library) => {
    const tokens = await library.authorizationCodeGrant(client, callbackUrl, {
      expectedState: attempt.state,
      expectedNonce: attempt.nonce,
      pkceCodeVerifier: attempt.codeVerifier,
      ...(attempt.fresh ? { maxAge: MAX_AUTHENTICATION_AGE_SECONDS } : {}),
    })
    const idClaims = tokens.claims()!
    const { userinfo_endpoint } = client.serverMetadata()
    const isComplete = idClaims.email !== undefined && idClaims[provider.group_claim] !== undefined
    const userInfo =
      isComplete || userinfo_endpoint === undefined
        ? {}
        : await library.fetchUserInfo(client, tokens.access_token, idClaims.sub)
    return {
      claims: { ...userInfo, ...idClaims } as ProviderClaims,
      authenticatedAt: typeof idClaims.auth_time === 'number' ? idClaims.auth_time * 1000 : null,
      endSessionEndpoint: endSessionEndpointOf(client),
    }
  }).catch((error) => {
    throw rejectionOf(error)
  })
}

/** Reads the metadata of a provider, to check the settings. Returns its page for signing out, if it has one. */
export async function checkProvider(
  deps: SignInDeps,
  settings: ClientSettings,
): Promise<{ endSessionEndpoint: string | null }> {
  return withOidcClient(deps, settings, async (client) => {
    const { authorization_endpoint, token_endpoint, jwks_uri } = client.serverMetadata()
    for (const [name, url] of Object.entries({ authorization_endpoint, token_endpoint, jwks_uri }))
      if (!url) throw new Error(`its metadata has no ${name}`)
    return { endSessionEndpoint: endSessionEndpointOf(client) }
  })
}

function endSessionEndpointOf(client: { serverMetadata(): { end_session_endpoint?: string } }): string | null {
  const { end_session_endpoint } = client.serverMetadata()
  return end_session_endpoint && /^https?:\/\//.test(end_session_endpoint) && URL.canParse(end_session_endpoint)
    ? end_session_endpoint
    : null
}

/** Describes an error of the provider for the audit log and the settings page. */
export function describeProviderError(error: unknown): string {
  const { message, code, cause } = error as Error & { code?: string; cause?: Error }
  const reason = cause instanceof Error && cause.message !== message ? `: ${cause.message}` : ''
  return `${message}${reason}${code ? ` (${code})` : ''}`.slice(0, 300)
}

function rejectionOf(error: unknown): SignInRejectedError {
  if (error instanceof SignInRejectedError) return error
  const { code, error: oauthError } = error as { code?: string; error?: string }
  const isDenied = code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR' && oauthError === 'access_denied'
  const failure = error instanceof ProviderUnreachableError ? 'unreachable' : isDenied ? 'denied' : 'invalid_response'
  const rejection = new SignInRejectedError(failure)
  rejection.cause = error
  return rejection
}
