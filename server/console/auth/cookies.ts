import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { MAX_SESSION_AGE_MS } from './sessions.ts'

/**
 * Returns the name of the session cookie. Over HTTPS, the `__Host-` prefix binds it to this host; browsers do not accept the
 * prefix over plain HTTP, which is for local use only.
 */
function sessionCookie({ config }: Pick<Context, 'config'>, { protocol }: FastifyRequest) {
  const secure = protocol === 'https' || config.publicUrl?.startsWith('https:') === true
  return { secure, name: secure ? '__Host-attestry' : 'attestry' }
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
  maxAge: number,
) {
  const { name, secure } = sessionCookie(context, request)
  const parts = [`${name}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAge}`]
  if (secure) parts.push('Secure')
  reply.header('set-cookie', parts.join('; '))
}

const TOKEN_FORMAT = /^[A-Za-z0-9_-]{43}$/

/** Returns the session token from the request, or undefined if there is none or it is malformed. */
export function readSessionCookie(context: Pick<Context, 'config'>, request: FastifyRequest): string | undefined {
  const { name } = sessionCookie(context, request)
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value = ''] = pair.trim().split('=', 2)
    if (key === name && TOKEN_FORMAT.test(value)) return value
  }
  return undefined
}
