import { randomUUID } from 'node:crypto'
import { addMember } from '../../server/console/auth/members.ts'
import type { MemberRole } from '../../server/console/auth/roles.ts'
import { openSession } from '../../server/console/auth/sessions.ts'
import { linkTo, makeLink } from '../../server/console/auth/sign-in-links.ts'
import type { TestApp } from './app.ts'
import type { Answer } from './call.ts'

/** Somebody who is signed in at the console. */
export interface ConsoleUser {
  email: string | null
  cookie: string
  csrf: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  delete(path: string, headers?: Record<string, string>): Promise<Answer>
}

export const CONSOLE = '/console/api'

/** Signs the operator in, or, with a mail address, a person. */
export async function signIn(app: TestApp, email: string | null = null): Promise<ConsoleUser> {
  const { context, fetch } = app
  const token = await context.db.transaction((tx) => openSession(tx, context, email))
  const cookie = `attestry=${token}`
  const { body } = await fetch(`${CONSOLE}/session`, { headers: { cookie } })
  const { csrf } = body.data as { csrf: string }

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    return fetch(CONSOLE + path, {
      method,
      headers: {
        cookie,
        ...(method === 'GET' ? {} : { 'x-csrf-token': csrf }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
  return {
    email,
    cookie,
    csrf,
    call,
    get: (path) => call('GET', path),
    post: (path, body, headers) => call('POST', path, body, headers),
    put: (path, body, headers) => call('PUT', path, body, headers),
    delete: (path, headers) => call('DELETE', path, undefined, headers),
  }
}

/** A person of the organisation, signed in. */
export async function memberOf(
  app: TestApp,
  orgId: string,
  role: MemberRole,
  email = `${role}-${randomUUID()}@example.com`,
) {
  const { context } = app
  await context.db.transaction((tx) => addMember(tx, context.clock, orgId, { email, role }))
  return signIn(app, email)
}

/** For browser tests: open this address once, and the operator (or the person) is signed in. */
export async function signInLink({ context }: TestApp, email: string | null = null): Promise<string> {
  const token = await context.db.transaction((tx) => makeLink(tx, context.clock, email))
  return linkTo(context.config.publicUrl!, token)
}
