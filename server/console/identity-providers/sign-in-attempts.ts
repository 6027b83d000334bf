import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { MINUTE } from '../../platform/clock.ts'
import { CALLBACK_PATH } from './paths.ts'

/** A sign-in that was started in this browser and waits for the response of the provider. */
export interface SignInAttempt {
  providerId: string
  state: string
  nonce: string
  codeVerifier: string
  /** Path of the console page to open after the sign-in. */
  returnTo: string
  /** Whether the provider was asked to authenticate the person again. */
  fresh: boolean
  /** Hash of the token of the session that the sign-in replaces, in base64url: the callback does not receive its cookie. */
  previousSession?: string | undefined
  expiresAt: number
}

export const ATTEMPT_VALID_MS = 10 * MINUTE
const COOKIE_NAME = 'attestry-sign-in'
const PURPOSE = 'sign-in attempt'

type AttemptDeps = Pick<Context, 'config' | 'vault' | 'clock'>

/**
 * Stores the attempt in a sealed cookie. Only the browser that started a sign-in can finish it, so that a link cannot
 * sign a person in to another person's account. The cookie is `Lax`, because the provider's redirect comes from another site.
 */
export function storeAttempt(deps: AttemptDeps, request: FastifyRequest, reply: FastifyReply, attempt: SignInAttempt) {
  const sealed = deps.vault.seal(JSON.stringify(attempt), PURPOSE).toString('base64url')
  writeCookie(deps, request, reply, sealed, ATTEMPT_VALID_MS / 1000)
}

/** Returns the attempt of this browser with the state, and removes its cookie. */
export function takeAttempt(
  deps: AttemptDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  state: string | undefined,
): SignInAttempt | undefined {
  writeCookie(deps, request, reply, '', 0)
  const attempt = readAttempt(deps, request)
  return attempt && attempt.state === state && deps.clock.now() < attempt.expiresAt ? attempt : undefined
}

function readAttempt({ vault }: AttemptDeps, { headers }: FastifyRequest): SignInAttempt | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [name, value = ''] = pair.trim().split('=', 2)
    if (name !== COOKIE_NAME || value === '') continue
    try {
      return JSON.parse(vault.open(Buffer.from(value, 'base64url'), PURPOSE)) as SignInAttempt
    } catch {
      return undefined // changed, or sealed with a deleted key
    }
  }
  return undefined
}

function writeCookie(
  { config }: AttemptDeps,
  { protocol }: FastifyRequest,
  reply: FastifyReply,
  value: string,
  maxAgeSeconds: number,
) {
  const isSecure = protocol === 'https' || config.publicUrl?.startsWith('https:') === true
  const parts = [
    `${COOKIE_NAME}=${value}`,
    `Path=${CALLBACK_PATH}`,
    'HttpOnly',
    'SameSite=Lax',
    `Max-Age=${maxAgeSeconds}`,
    ...(isSecure ? ['Secure'] : []),
  ]
  reply.header('set-cookie', parts.join('; '))
}
