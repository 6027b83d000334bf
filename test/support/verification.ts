import { after, type TestContext } from 'node:test'
import { getMail, listMails } from '../../server/mail/mail.ts'
import { type StartOptions, startApp, type TestApp } from './app.ts'

/** Calls of the verification API as a partner, a student and a reviewer make them. */

export interface Answer {
  status: number
  headers: Headers
  body: any
}

export interface Send {
  key?: string
  /** In x-session-token. */
  token?: string
  headers?: Record<string, string>
  body?: unknown
}

export interface OpenedSession {
  token: string
  id: string
  userId: string
}

export const BRICKLAYING = 'sk_1001'
export const WIRING = 'sk_2001'

export function aStudent(changes: object = {}) {
  return {
    externalStudentId: 'stu-1',
    name: 'Asha Rao',
    email: 'asha@example.com',
    phone: '+91 98765 43210',
    projects: [{ externalProjectId: 'p-1', projectName: 'School hall', role: 'Mason', description: 'A hall of brick' }],
    workExperiences: [
      {
        externalExperienceId: 'w-1',
        companyName: 'Metro Ltd',
        role: 'Fabricator',
        startDate: '2023-01',
        endDate: '2024-06',
      },
    ],
    certificates: [
      { externalCertificateId: 'c-1', certificateName: 'ITI Mason', issuer: 'NCVT', issueDate: '2022-08' },
    ],
    ...changes,
  }
}

export function aReviewer(changes: object = {}) {
  return { name: 'Ravi Menon', email: 'Ravi.Menon@Metro.example', company: 'Metro Ltd', ...changes }
}

export async function startVerification(t: TestContext, options: StartOptions = {}) {
  const app = await startApp(t, options)
  const { orgId } = await app.given.org()
  return callsOf(app, orgId, await app.given.sessionKey(orgId))
}

/**
 * One server for all tests of a file, loaded at its top; every test has an organisation of its own, finds a fresh minute and
 * may put another writer in place.
 */
export async function shareVerification(): Promise<() => Promise<Calls>> {
  const app = await startApp({ after } as unknown as TestContext)
  const { writer } = app.context
  return async () => {
    app.clock.advance(61_000)
    app.context.writer = writer
    const { orgId } = await app.given.org()
    return callsOf(app, orgId, await app.given.sessionKey(orgId))
  }
}

export type Calls = ReturnType<typeof callsOf>

export function callsOf(app: TestApp, orgId: string, key: string) {
  const calls = {
    app,
    orgId,
    key,
    scope: { orgId, mode: 'live' as const },
    clock: app.clock,

    async call(method: string, path: string, { key, token, headers = {}, body }: Send = {}): Promise<Answer> {
      const response = await fetch(`${app.url}/api/v1${path}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { 'x-api-key': key }),
          ...(token === undefined ? {} : { 'x-session-token': token }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
    },

    async open(changes: object = {}): Promise<OpenedSession> {
      const { body, status } = await calls.call('POST', '/verify', { key, body: aStudent(changes) })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return { token: body.data.sessionToken, id: body.data.serviceVerificationId, userId: body.data.serviceUserId }
    },

    skills: ({ token }: OpenedSession, ids: string[] = [BRICKLAYING], more: object = {}) =>
      calls.call('POST', '/step1/storeskills/store', {
        key,
        body: { sessionToken: token, skills: ids.map((skillId) => ({ skillId })), ...more },
      }),

    method: ({ token, id }: OpenedSession, verificationMethod: string) =>
      calls.call('POST', '/step2/verification-method', {
        key,
        token,
        body: { serviceVerificationId: id, verificationMethod },
      }),

    items: ({ token }: OpenedSession, chosen: object = { workExperienceIds: ['w-1'] }) =>
      calls.call('POST', '/step3/store-verification-items/store', { key, body: { sessionToken: token, ...chosen } }),

    reviewer: ({ id }: OpenedSession, changes: object = {}) =>
      calls.call('POST', '/storereviewerdetails/store', {
        key,
        body: { serviceVerificationId: id, ...aReviewer(changes) },
      }),

    generate: ({ token }: OpenedSession) => calls.call('POST', '/assessment/generate', { key, token }),

    submitAnswers: ({ token }: OpenedSession, answers: object[]) =>
      calls.call('POST', '/assessment/submit', { key, token, body: { answers } }),

    submitReview: ({ id }: OpenedSession, token: string, answer: object) =>
      calls.call('POST', '/humanverification/submit', { body: { serviceVerificationId: id, token, ...answer } }),

    page: ({ id }: OpenedSession) => calls.call('GET', `/humanverification/verify-page/${id}`),

    verification: async ({ id }: OpenedSession) => (await calls.call('GET', `/verification/${id}`, { key })).body.data,

    full: async ({ token }: OpenedSession) => (await calls.call('GET', `/verify/${token}`, { key })).body.data,

    /** A session that is ready for the method's last step. */
    async prepared(
      method: 'human' | 'assessment',
      options: { skills?: string[]; type?: string; student?: object } = {},
    ) {
      const session = await calls.open(options.student)
      await ok(calls.skills(session, options.skills, options.type ? { endorsementType: options.type } : {}))
      await ok(calls.method(session, method))
      await ok(calls.items(session))
      return session
    },

    /** A session whose reviewer has got the mail, and the token of its link. */
    async requested(options: { skills?: string[]; type?: string; student?: object; reviewer?: object } = {}) {
      const session = await calls.prepared('human', options)
      await ok(calls.reviewer(session, options.reviewer))
      return { session, token: await calls.linkToken(session) }
    },

    /** Newest first. */
    async mails({ id }: OpenedSession) {
      const { db, vault } = app.context
      const heads = await listMails(db.queries, { subjectId: id, limit: 20 })
      return Promise.all(heads.map(({ mail_id }) => getMail(db.queries, vault, mail_id)))
    },

    async linkToken(session: OpenedSession): Promise<string> {
      const [mail] = await calls.mails(session)
      return /#token=(\S+)/.exec(mail!.text)![1]!
    },

    async events(): Promise<{ type: string; data: any }[]> {
      await app.context.events.settle(calls.scope)
      const rows = await app.context.db.queries
        .selectFrom('events')
        .select(['type', 'data'])
        .where('org_id', '=', orgId)
        .orderBy('sequence')
        .execute()
      return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }))
    },

    /** The right answers, which only the database knows. */
    async keys({ id }: OpenedSession): Promise<{ questionId: string; option: string; skill: number }[]> {
      const row = await app.context.db.queries
        .selectFrom('verification_attempts')
        .select('questions')
        .where('verification_id', '=', id)
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow()
      const questions = row.questions as unknown as {
        questionId: string
        options: string[]
        key: number
        skill: number
      }[]
      return questions.map(({ questionId, options, key, skill }) => ({ questionId, option: options[key]!, skill }))
    },
  }
  return calls
}

export async function ok(answer: Promise<Answer>): Promise<Answer> {
  const found = await answer
  if (found.status >= 300) throw new Error(`${found.status} ${JSON.stringify(found.body)}`)
  return found
}

/** `404 SESSION_NOT_FOUND`, or the status alone where all is well. */
export function outcome({ status, body }: Answer): string {
  return status < 300 ? String(status) : `${status} ${body?.error?.code}`
}
