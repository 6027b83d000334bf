import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { LONGEST } from './sessions.ts'

/**
 * The session's cookie: out of reach for scripts, sent to nobody else's pages, and over HTTPS bound to this very host by its
 * name. Plain HTTP, which is for this machine alone, has no such names.
 */
function cookieName({ config }: Pick<Context, 'config'>, { protocol }: FastifyRequest) {
  const secure = protocol === 'https' || config.publicUrl?.startsWith('https:') === true
  return { secure, name: secure ? '__Host-attestry' : 'attestry' }
}

export function setCookie(
  context: Pick<Context, 'config'>,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
) {
  write(context, request, reply, token, LONGEST / 1000)
}

export function clearCookie(context: Pick<Context, 'config'>, request: FastifyRequest, reply: FastifyReply) {
  write(context, request, reply, '', 0)
}

function write(
  context: Pick<Context, 'config'>,
  request: FastifyRequest,
  reply: FastifyReply,
  value: string,
  maxAge: number,
) {
  const { name, secure } = cookieName(context, request)
  const parts = [`${name}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAge}`]
  if (secure) parts.push('Secure')
  reply.header('set-cookie', parts.join('; '))
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** What the browser sent, where it looks like one of ours. */
export function readCookie(context: Pick<Context, 'config'>, request: FastifyRequest): string | undefined {
  const { name } = cookieName(context, request)
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value = ''] = pair.trim().split('=', 2)
    if (key === name && TOKEN.test(value)) return value
  }
  return undefined
}
