import type { ClientAuth, Configuration, CustomFetch } from 'openid-client'
import type { Agent } from 'undici'
import { isLocalOnly } from '../../config.ts'
import type { Context } from '../../context.ts'
import { createConnector } from '../../webhooks/delivery/connector.ts'
import { resolveName, type TargetRules, urlError } from '../../webhooks/target-rules.ts'

/** Allowed difference between the clocks of this server and the provider. */
const CLOCK_TOLERANCE_SECONDS = 60
const TIMEOUT_SECONDS = 10
const MAX_RESPONSE_BYTES = 1024 * 1024

export interface ClientSettings {
  issuer: string
  clientId: string
  clientSecret: string | undefined
}

export type OidcDeps = Pick<Context, 'config' | 'clock'>

/** The provider cannot be reached, or must not be called; the message contains the reason. */
export class ProviderUnreachableError extends Error {
  override name = 'ProviderUnreachableError'
}

/** Returns the error in the URL of an issuer, or undefined if it is valid. Plain HTTP is allowed only for a provider on the same machine. */
export async function issuerError(issuer: string, { config }: Pick<Context, 'config'>): Promise<string | undefined> {
  const error = await urlError(issuer, 'test', targetRules(config))
  if (error) return error
  const url = new URL(issuer)
  if (url.search) return 'must not contain a query'
  return isHttpAllowed(url) ? undefined : 'must be an https URL'
}

function targetRules(config: Context['config']): TargetRules {
  return { allow: config.webhookAllow, onLoopback: isLocalOnly(config) }
}

function isHttpAllowed({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/**
 * Reads the metadata of the provider and calls `use` with a client. Metadata and signing keys are read for every sign-in, so that
 * rotated keys and changed endpoints are used at once. The addresses come from users and from the provider: as for webhooks, only
 * addresses that the target rules allow are called.
 */
export async function withOidcClient<T>(
  { config, clock }: OidcDeps,
  { issuer, clientId, clientSecret }: ClientSettings,
  use: (client: Configuration, library: typeof import('openid-client')) => Promise<T>,
): Promise<T> {
  const library = await import('openid-client') // loaded only when a provider is used
  const { agent, fetch } = await openFetch(config)
  try {
    const client = await library.discovery(
      new URL(issuer),
      clientId,
      {
        [library.clockSkew]: Math.round((clock.now() - Date.now()) / 1000),
        [library.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
      },
      clientAuthentication(library, clientSecret),
      {
        [library.customFetch]: fetch,
        timeout: TIMEOUT_SECONDS,
        execute: [
          library.enableNonRepudiationChecks, // checks the signature of ID tokens
          ...(new URL(issuer).protocol === 'http:' ? [library.allowInsecureRequests] : []),
        ],
      },
    )
    return await use(client, library)
  } catch (error) {
    throw unreachableError(error) ?? error
  } finally {
    await agent.destroy()
  }
}

/** Uses a method that the provider supports: HTTP Basic, which is the default of the standard, or the body. */
function clientAuthentication(library: typeof import('openid-client'), secret: string | undefined): ClientAuth {
  if (secret === undefined) return library.None()
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic') ? library.ClientSecretBasic : library.ClientSecretPost
    return authenticate(secret)(server, client, body, headers)
  }
}

async function openFetch(config: Context['config']): Promise<{ agent: Agent; fetch: CustomFetch }> {
  const { Agent, buildConnector, fetch, Headers } = await import('undici')
  const rules = targetRules(config)
  const connect = createConnector(buildConnector, {
    mode: rules.onLoopback ? 'test' : 'live', // a server that only this machine can reach may call a provider on this machine
    rules,
    resolve: resolveName,
    timeoutMs: TIMEOUT_SECONDS * 1000,
  })
  const agent = new Agent({ connect, allowH2: false, maxHeaderSize: 16 * 1024, maxResponseSize: MAX_RESPONSE_BYTES })
  return {
    agent,
    fetch: (async (url: string, options: { headers?: Record<string, string> }) => {
      if (!isHttpAllowed(new URL(url)))
        throw new ProviderUnreachableError(`${new URL(url).host} is not an https server`)
      const headers = new Headers(options.headers)
      headers.set('accept-encoding', 'identity')
      const response = await fetch(url, { ...options, headers, dispatcher: agent })
      // The limit of the agent counts compressed bytes: a small response could fill the memory.
      if ((response.headers.get('content-encoding') ?? 'identity') !== 'identity') {
        await response.body?.cancel()
        throw new ProviderUnreachableError(`${new URL(url).host} sent a compressed response, which was not requested`)
      }
      return response
    }) as unknown as CustomFetch,
  }
}

interface NetworkError {
  code?: string
  name?: string
  message?: string
  cause?: NetworkError
  status?: number
}

/** Returns the error of a failed connection, or undefined for any other error. */
function unreachableError(error: unknown): ProviderUnreachableError | undefined {
  for (let cause = error as NetworkError | undefined; cause; cause = cause.cause) {
    if (cause instanceof ProviderUnreachableError) return cause
    const { code = '', name = '', message = '' } = cause
    if (code === 'TARGET_REJECTED') return new ProviderUnreachableError(`its address ${message}`)
    if (name === 'TimeoutError' || code === 'OAUTH_TIMEOUT')
      return new ProviderUnreachableError(`no response within ${TIMEOUT_SECONDS} s`)
    if (/^(E[A-Z]+|UND_ERR_\w+|ERR_TLS\w*|ERR_SSL\w*|CERT_\w+|DEPTH_\w+|SELF_SIGNED\w*|UNABLE_TO\w*)$/.test(code))
      return new ProviderUnreachableError(`connection failed (${code})`)
  }
  return undefined
}
