import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { MAX_SESSION_AGE_MS } from './sessions.ts'

/**
 * Returns the name of the session cookie, and whether it has the `Secure` attribute. Over HTTPS, the `__Host-` prefix binds the
 * cookie to this host; browsers do not accept the prefix over plain HTTP, which is for local use only.
 */
function sessionCookieOptions({ config }: Pick<Context, 'config'>, { protocol }: FastifyRequest) {
  const isSecure = protocol === 'https' || config.publicUrl?.startsWith('https:') === true
  return { secure: isSecure, name: isSecure ? '__Host-attestry' : 'attestry' }
}

export function setSessionCookie(
  context: Pick<Context, 'config'>,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
) {
  writeCookie(context, request, reply, token, MAX_SESSION_AGE_MS / 1000)
}

export function clearSessionCookie(context: Pick<Context, 'config'>, request: FastifyRequest, reply: FastifyReply) {
  writeCookie(context, request, reply, '', 0)
}

function writeCookie(
  context: Pick<Context, 'config'>,
  request: FastifyRequest,
  reply: FastifyReply,
  value: string,
  maxAgeSeconds: number,
) {
  const { name, secure } = sessionCookieOptions(context, request)
  const parts = [`${name}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAgeSeconds}`]
  if (secure) parts.push('Secure')
  reply.header('set-cookie', parts.join('; '))
}

const TOKEN_FORMAT = /^(p\.)?[A-Za-z0-9_-]{43}$/

/** Returns the session token from the request, or undefined if there is none or it is malformed. */
export function readSessionCookie(context: Pick<Context, 'config'>, request: FastifyRequest): string | undefined {
  const { name } = sessionCookieOptions(context, request)
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value = ''] = pair.trim().split('=', 2)
    if (key === name && TOKEN_FORMAT.test(value)) return value
  }
  return undefined
}
