import { randomUUID } from 'node:crypto'
import { addMember } from '../../server/console/auth/members.ts'
import { ensureFirstOperator } from '../../server/console/auth/operators.ts'
import type { MemberRole } from '../../server/console/auth/roles.ts'
import { createSession } from '../../server/console/auth/sessions.ts'
import { createSignInLink, PRINTED_LINK_VALID_MS, signInUrl } from '../../server/console/auth/sign-in-links.ts'
import type { TestApp } from './app.ts'
import type { TestResponse } from './call.ts'

/** A signed-in console user, with functions that send requests to the console API. */
export interface ConsoleUser {
  email: string
  cookie: string
  csrf: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>
  get(path: string): Promise<TestResponse>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>
  delete(path: string, headers?: Record<string, string>): Promise<TestResponse>
}

export const CONSOLE_API = '/console/api'

export const OPERATOR_EMAIL = 'operator@example.com'

/** Returns the email address, or that of an operator if it is null. */
async function resolveEmail({ context }: TestApp, email: string | null): Promise<string> {
  if (email !== null) return email
  const { operator } = await context.db.transaction((tx) => ensureFirstOperator(tx, context.clock, OPERATOR_EMAIL))
  return operator.email
}

/** Signs in a member by email address, or an operator if it is null. */
export async function signIn(app: TestApp, memberEmail: string | null = null): Promise<ConsoleUser> {
  const { context, fetch } = app
  const email = await resolveEmail(app, memberEmail)
  const token = await context.db.transaction((tx) => createSession(tx, context, { email }))
  const cookie = `attestry=${token}`
  const { body } = await fetch(`${CONSOLE_API}/session`, { headers: { cookie } })
  const { csrf } = body.data as { csrf: string }

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    return fetch(CONSOLE_API + path, {
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

/** Adds a member to the organisation and signs them in. */
export async function signInMember(
  app: TestApp,
  orgId: string,
  role: MemberRole,
  email = `${role}-${randomUUID()}@example.com`,
) {
  const { context } = app
  await context.db.transaction((tx) => addMember(tx, context.clock, orgId, { email, role }))
  return signIn(app, email)
}

/** Returns a one-time sign-in link for browser tests, for a member by email address or an operator if it is null. */
export async function createTestSignInLink(app: TestApp, memberEmail: string | null = null): Promise<string> {
  const { context } = app
  const email = await resolveEmail(app, memberEmail)
  const validMs = memberEmail === null ? PRINTED_LINK_VALID_MS : undefined
  const token = await context.db.transaction((tx) => createSignInLink(tx, context.clock, email, validMs))
  return signInUrl(context.config.publicUrl!, token)
}
