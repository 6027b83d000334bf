import type { Mode } from '../../server/access/keys.ts'
import type { Context } from '../../server/context.ts'
import { openEvents } from '../../server/events/personal-data.ts'
import { getEmail, listEmails } from '../../server/mail/mail.ts'
import type { Question } from '../../server/verification/assessments/attempts.ts'
import { sealSession } from '../../server/verification/personal-values.ts'
import type { Student } from '../../server/verification/session-input.ts'
import { lockVerification } from '../../server/verification/sessions.ts'
import { type StartAppOptions, startApp, type TestApp } from './app.ts'
import type { TestResponse } from './call.ts'
import { type Cleanup, oncePerFile } from './cleanup.ts'

interface SendOptions {
  key?: string
  /** The session token, sent in the header x-session-token. */
  token?: string
  headers?: Record<string, string>
  body?: unknown
}

export interface TestSession {
  token: string
  id: string
  userId: string
}

interface CorrectAnswer {
  questionId: string
  option: string
  wrongOption: string
  skill: number
  itemId: string
  difficulty: number
}

/** A skill ID, or a skill ID with URLs of proofs. */
type SkillToVerify = string | { skillId: string; proofUrl: string[] }

interface PrepareOptions {
  skills?: SkillToVerify[]
  type?: string
  student?: object
}

export const BRICKLAYING = 'sk_1001'
export const PLASTERING = 'sk_1016'
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

export async function startVerification(t: Cleanup, options: StartAppOptions = {}) {
  const app = await startApp(t, options)
  const { orgId } = await app.fixtures.createOrg()
  return verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
}

/**
 * Shares one server between all tests of a file. The returned function creates a new organisation, advances the clock by a minute
 * so that rate limits are reset, and restores the default question writer, which a test may replace.
 */
export function sharedVerification(mode: Mode = 'live'): () => Promise<VerificationCalls> {
  const startShared = oncePerFile(async (t) => {
    // All tests of a file write to the same reviewers.
    const app = await startApp(t, { config: { mailLimits: { perRecipient: 1000, perOrganisation: 1000 } } })
    return { app, writer: app.context.writer }
  })
  return async () => {
    const { app, writer } = await startShared()
    app.clock.advance(61_000)
    app.context.writer = writer
    const { orgId } = await app.fixtures.createOrg()
    return verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, mode), mode)
  }
}

export type VerificationCalls = ReturnType<typeof verificationCalls>

/** Returns functions that send requests to the verification API as a partner, a student or a reviewer. */
export function verificationCalls(app: TestApp, orgId: string, key: string, mode: Mode = 'live') {
  const calls = {
    app,
    orgId,
    key,
    scope: { orgId, mode },
    clock: app.clock,

    async call(
      method: string,
      path: string,
      { key, token, headers = {}, body }: SendOptions = {},
    ): Promise<TestResponse> {
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

    async openSession(changes: object = {}): Promise<TestSession> {
      const { body, status } = await calls.call('POST', '/verify', { key, body: aStudent(changes) })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return { token: body.data.sessionToken, id: body.data.serviceVerificationId, userId: body.data.serviceUserId }
    },

    storeSkills: ({ token }: TestSession, skills: SkillToVerify[] = [BRICKLAYING], overrides: object = {}) =>
      calls.call('POST', '/step1/storeskills/store', {
        key,
        body: {
          sessionToken: token,
          skills: skills.map((skill) => (typeof skill === 'string' ? { skillId: skill } : skill)),
          ...overrides,
        },
      }),

    chooseMethod: ({ token, id }: TestSession, verificationMethod: string) =>
      calls.call('POST', '/step2/verification-method', {
        key,
        token,
        body: { serviceVerificationId: id, verificationMethod },
      }),

    storeItems: ({ token }: TestSession, chosenItems: object = { workExperienceIds: ['w-1'] }) =>
      calls.call('POST', '/step3/store-verification-items/store', {
        key,
        body: { sessionToken: token, ...chosenItems },
      }),

    storeReviewer: ({ id }: TestSession, changes: object = {}) =>
      calls.call('POST', '/storereviewerdetails/store', {
        key,
        body: { serviceVerificationId: id, ...aReviewer(changes) },
      }),

    generateAssessment: ({ token }: TestSession, acceptLanguage?: string) =>
      calls.call('POST', '/assessment/generate', {
        key,
        token,
        headers: acceptLanguage ? { 'accept-language': acceptLanguage } : {},
      }),

    submitAnswers: ({ token }: TestSession, answers: object[]) =>
      calls.call('POST', '/assessment/submit', { key, token, body: { answers } }),

    submitReview: ({ id }: TestSession, token: string, review: object) =>
      calls.call('POST', '/humanverification/submit', { body: { serviceVerificationId: id, token, ...review } }),

    getReviewPage: ({ id }: TestSession) => calls.call('GET', `/humanverification/verify-page/${id}`),

    getVerification: async ({ id }: TestSession) => (await calls.call('GET', `/verification/${id}`, { key })).body.data,

    getFullVerification: async ({ token }: TestSession) =>
      (await calls.call('GET', `/verify/${token}`, { key })).body.data,

    /** Opens a session that is ready for the last step of the verification method. */
    async openPreparedSession(method: 'human' | 'assessment', options: PrepareOptions = {}) {
      const session = await calls.openSession(options.student)
      await expectOk(calls.storeSkills(session, options.skills, options.type ? { endorsementType: options.type } : {}))
      await expectOk(calls.chooseMethod(session, method))
      await expectOk(calls.storeItems(session))
      return session
    },

    /** Opens a session and requests a review; also returns the token in the reviewer's link. */
    async requestReview(options: PrepareOptions & { reviewer?: object } = {}) {
      const session = await calls.openPreparedSession('human', options)
      await expectOk(calls.storeReviewer(session, options.reviewer))
      return { session, token: await calls.getReviewToken(session) }
    },

    /** Returns the emails of the session, newest first. */
    async listEmails({ id }: TestSession) {
      const { db, vault } = app.context
      const emails = await listEmails(db.queries, { subjectId: id, limit: 20 })
      return Promise.all(emails.map(({ mail_id }) => getEmail(db.queries, vault, mail_id)))
    },

    async getReviewToken(session: TestSession): Promise<string> {
      const [email] = await calls.listEmails(session)
      return /#token=(\S+)/.exec(email!.text)![1]!
    },

    async listEvents(): Promise<{ type: string; data: any }[]> {
      await app.context.events.flush(calls.scope)
      const rows = await app.context.db.queries
        .selectFrom('events')
        .select(['event_id', 'type', 'data', 'person_id', 'other_person_id', 'personal'])
        .where('org_id', '=', orgId)
        .orderBy('sequence')
        .execute()
      return (await openEvents(app.context.db.queries, rows)).map(({ type, data }) => ({
        type,
        data: JSON.parse(data),
      }))
    },

    /** Returns the correct answers of the last attempt from the database, because the API does not return them. */
    async getCorrectAnswers({ id }: TestSession): Promise<CorrectAnswer[]> {
      const row = await app.context.db.queries
        .selectFrom('verification_attempts')
        .select('questions')
        .where('verification_id', '=', id)
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow()
      const questions = row.questions as unknown as Question[]
      return questions.map(({ questionId, options, key, skill, item }) => ({
        questionId,
        option: options[key]!,
        wrongOption: options[(key + 1) % options.length]!,
        skill,
        itemId: item!.id,
        difficulty: item!.difficulty,
      }))
    },
  }
  return calls
}

/** Requests a review of two skills, the first with a proof, in a new organisation. Also returns the review link in the email. */
export async function requestReview(app: TestApp, student: object = {}) {
  const { orgId } = await app.fixtures.createOrg()
  const api = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const skills = [{ skillId: BRICKLAYING, proofUrl: ['https://example.com/wall'] }, PLASTERING]
  const { session } = await api.requestReview({ skills, student })
  const [email] = await api.listEmails(session)
  return { ...api, session, link: /https?:\/\/\S+#token=\S+/.exec(email!.text)![0] }
}

/** Has a student endorsed by a manager at once, and returns the session. */
export async function endorseStudent(
  calls: VerificationCalls,
  reviewer: string,
  student: string,
): Promise<TestSession> {
  calls.clock.advance(60_000)
  const { session, token } = await calls.requestReview({
    reviewer: { email: reviewer },
    student: { externalStudentId: student, email: student },
  })
  await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }))
  return session
}

/** Has three people endorse each other in a circle, with different spellings of their addresses. */
export async function plantRing(calls: VerificationCalls): Promise<TestSession[]> {
  return [
    await endorseStudent(calls, 'amit.k@gmail.com', 'bina.m@gmail.com'),
    await endorseStudent(calls, 'binam+work@gmail.com', 'carl.s@googlemail.com'),
    await endorseStudent(calls, 'carl.s@gmail.com', 'amitk@gmail.com'),
  ]
}

/**
 * Generates the questions and returns answers to all of them. `isRight` is called with each correct answer and its position among the
 * questions of its skill; without it, all answers are right.
 */
export async function answerQuestions(
  calls: VerificationCalls,
  session: TestSession,
  isRight: (answer: CorrectAnswer, position: number) => boolean = () => true,
): Promise<{ questionId: string; option: string }[]> {
  await expectOk(calls.generateAssessment(session))
  const bySkill = Map.groupBy(await calls.getCorrectAnswers(session), ({ skill }) => skill)
  return [...bySkill.values()].flatMap((answers) =>
    answers.map((answer, position) => ({
      questionId: answer.questionId,
      option: isRight(answer, position) ? answer.option : answer.wrongOption,
    })),
  )
}

/** Replaces the student of a session with values that the API rejects today. */
export async function replaceStudent({ db, clock }: Context, { id }: TestSession, student: Student): Promise<void> {
  await db.transaction(async (tx) => {
    const session = (await lockVerification(tx, clock, id))!
    await tx
      .updateTable('verification_sessions')
      .set({ personal: sealSession(session.personKey!, id, { ...session, student }) })
      .where('verification_id', '=', id)
      .execute()
  })
}

/** Awaits a response and throws unless its status is below 300. */
export async function expectOk(pendingResponse: Promise<TestResponse>): Promise<TestResponse> {
  const response = await pendingResponse
  if (response.status >= 300) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
  return response
}

/** Returns the status and error code of a response, such as `404 SESSION_NOT_FOUND`, or only the status if it is successful. */
export function outcomeOf({ status, body }: TestResponse): string {
  return status < 300 ? String(status) : `${status} ${body?.error?.code}`
}
