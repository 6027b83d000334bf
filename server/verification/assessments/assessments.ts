import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Problem, problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { recordEvent } from '../../events/record.ts'
import { type Clock, realClock, SECOND } from '../../platform/clock.ts'
import type { Database, Tx } from '../../platform/database/database.ts'
import type { Language } from '../../platform/text/languages.ts'
import { verificationEnded } from '../credential-hooks.ts'
import { eventData, recordFailure, skillOutcomes } from '../outcome.ts'
import type { AnswersInput } from '../schema.ts'
import { changeSession, type Session } from '../sessions.ts'
import { requireSourcesAvailable } from '../source-rules.ts'
import { findNotAssessableSkills, NOT_ASSESSABLE_REASON } from './assessable-skills.ts'
import { recordAssessmentResponses } from './assessment-responses.ts'
import {
  type Attempt,
  countFailedAttempts,
  findFailedAttempts,
  findLastAttempt,
  findPassedSkills,
  insertAttempt,
  MAX_FAILED_ATTEMPTS,
  type Marks,
  markAnswers,
  readAssessment,
} from './attempts.ts'
import type { AssessmentItem } from './draw-questions.ts'
import { withKeyFirst } from './key-first.ts'
import { generationFailedProblem, writeItems } from './question-set.ts'

const GENERATION_TIMEOUT_MS = 90 * SECOND
/**
 * How long the claim of a session is valid without renewal. If the process dies, or loses the database, while it generates
 * questions, other calls wait this long before they generate them.
 */
export const LEASE_MS = 6 * SECOND
const LEASE_RENEWAL_INTERVAL_MS = 2 * SECOND
/** Real time (not test clock time) between checks whether a concurrent call has generated the questions. */
const POLL_INTERVAL_MS = 100

export interface GeneratedAssessment {
  session: Session
  attempt: Attempt
  alreadyGenerated: boolean
}

/**
 * Returns the session's questions and generates them if needed. Generation takes up to 90 seconds and runs outside any
 * transaction. The first call claims the session and renews its claim until it has stored the questions; concurrent calls wait. If
 * the claim is no longer renewed, one of them generates the questions instead. `lock` returns the locked session, with the server's
 * clock or its test clock.
 */
export async function generateAssessment(
  context: Pick<Context, 'db' | 'clock' | 'writer' | 'catalogue' | 'log'>,
  lock: (tx: Tx) => Promise<Session>,
  { timeout = GENERATION_TIMEOUT_MS, language = 'en' }: { timeout?: number; language?: Language } = {},
): Promise<GeneratedAssessment> {
  const { db, clock, log } = context
  const deadline = performance.now() + timeout
  const claimant = randomUUID()
  for (;;) {
    const claimResult = await db.transaction((tx) => claimOrFind(tx))
    if ('rejection' in claimResult) throw claimResult.rejection
    if ('attempt' in claimResult) return claimResult
    if ('session' in claimResult) return generateQuestions(claimResult.session)
    if (performance.now() > deadline) throw generationFailedProblem()
    await sleep(POLL_INTERVAL_MS)
  }

  async function claimOrFind(
    tx: Tx,
  ): Promise<GeneratedAssessment | { session: Session } | { rejection: Problem } | { busy: true }> {
    const session = await lock(tx)
    const now = session.clock.now()
    const lastAttempt = await requireReadyForAssessment(tx, session)
    const exhaustedProblem = await attemptsExhaustedProblem(tx, session, now)
    if (exhaustedProblem) {
      // Store the failure although the call is rejected: the last attempt may have expired.
      if (session.status === 'in_assessment') await failSession(tx, session.clock, session)
      return { rejection: exhaustedProblem }
    }
    if (lastAttempt && isOpen(lastAttempt, now)) return { session, attempt: lastAttempt, alreadyGenerated: true }
    await requireSourcesAvailable(tx, session, now)
    // Claims are in real time, also those of a session with a test clock.
    if (session.generatingBy !== null && clock.now() < session.generatingUntil) return { busy: true }
    await claimSession(tx, session.id, claimant, clock.now() + LEASE_MS)
    return { session }
  }

  async function generateQuestions(session: Session): Promise<GeneratedAssessment> {
    const renewalTimer = setInterval(
      () => void renewClaim(db, session.id, claimant, clock.now() + LEASE_MS).catch(logRenewalError),
      LEASE_RENEWAL_INTERVAL_MS,
    )
    try {
      const notAssessable = await findNotAssessableSkills(db.queries, context, session)
      const passedSkills = await findPassedSkills(db.queries, session)
      const skills = session.skills.filter((skill) => !notAssessable.includes(skill) && !passedSkills.has(skill.number))
      if (skills.length === 0)
        throw problem(
          'INVALID_VERIFICATION_METHOD',
          `None of the skills can be assessed: for each, ${NOT_ASSESSABLE_REASON}.`,
        )
      const items = await writeItems(context, { ...session, skills }, { seed: claimant, deadline, language })
      return await db.transaction((tx) => storeQuestions(tx, items))
    } catch (error) {
      await db.transaction((tx) => releaseSession(tx, session.id, claimant)).catch(() => {}) // otherwise the claim expires
      throw error
    } finally {
      clearInterval(renewalTimer)
    }
  }

  function logRenewalError(error: unknown) {
    log.warn({ err: error }, 'renewing the claim of an assessment failed, retrying')
  }

  async function storeQuestions(tx: Tx, items: AssessmentItem[]): Promise<GeneratedAssessment> {
    const session = await lock(tx)
    const now = session.clock.now()
    const lastAttempt = await requireReadyForAssessment(tx, session)
    // The claim may have expired, and another call may have stored questions.
    if (lastAttempt && isOpen(lastAttempt, now)) return { session, attempt: lastAttempt, alreadyGenerated: true }
    if (session.generatingBy !== claimant) throw generationFailedProblem()
    const exhaustedProblem = await attemptsExhaustedProblem(tx, session, now)
    if (exhaustedProblem) throw exhaustedProblem
    await requireSourcesAvailable(tx, session, now)
    const attempt = await insertAttempt(tx, session, now, (lastAttempt?.number ?? 0) + 1, withKeyFirst(session, items))
    const changedSession = await changeSession(tx, session, now, {
      status: 'in_assessment',
      completedAt: undefined,
      generatingBy: null,
      generatingUntil: 0,
      extendsSession: true,
    })
    if (!lastAttempt)
      await recordEvent(tx, session.scope, session.clock, 'verification.initiated', eventData(changedSession))
    return { session: changedSession, attempt, alreadyGenerated: false }
  }
}

/** Ends a session whose attempts are used up. */
export async function failSession(tx: Tx, clock: Clock, session: Session): Promise<void> {
  const now = clock.now()
  const failedSession = await changeSession(tx, session, now, { status: 'failed', completedAt: now })
  await recordFailure(tx, clock, failedSession, await readAssessment(tx, failedSession, now))
}

/** Claims the session without extending it, so that a failed generation leaves it unchanged. */
async function claimSession(tx: Tx, verificationId: string, claimant: string, until: number) {
  await sql`update verification_sessions set generating_by = ${claimant}, generating_until = ${new Date(until)}
    where verification_id = ${verificationId}`.execute(tx)
}

/** Extends the claim, unless it has expired and another call has claimed the session. */
async function renewClaim(db: Database, verificationId: string, claimant: string, until: number) {
  await sql`update verification_sessions set generating_until = ${new Date(until)}
    where verification_id = ${verificationId} and generating_by = ${claimant}`.execute(db.queries)
}

async function releaseSession(tx: Tx, verificationId: string, claimant: string) {
  await sql`update verification_sessions set generating_by = null, generating_until = null
    where verification_id = ${verificationId} and generating_by = ${claimant}`.execute(tx)
}

/** Throws the first reason why questions cannot be generated; returns the last attempt. */
async function requireReadyForAssessment(tx: Tx, session: Session): Promise<Attempt | undefined> {
  const lastAttempt = session.status === 'open' ? undefined : await findLastAttempt(tx, session.id)
  if (lastAttempt?.passed) throw assessmentLockedProblem()
  if (session.method === null) throw problem('VERIFICATION_NOT_FOUND', 'Choose the verification method first (step 2).')
  if (session.method !== 'assessment') {
    throw problem('INVALID_VERIFICATION_TYPE', 'This verification uses a reviewer and has no assessment.')
  }
  if (session.sources.length === 0)
    throw problem('NO_DATA', 'Choose projects, work experience or certificates first (step 3).')
  if (session.skills.length === 0) throw problem('NO_SKILLS', 'Choose skills first (step 1).')
  return lastAttempt
}

function isOpen({ submittedAt, expiresAt }: Attempt, now: number): boolean {
  return submittedAt === undefined && now < expiresAt
}

async function attemptsExhaustedProblem(tx: Tx, session: Session, now: number): Promise<Problem | undefined> {
  const failed = await findFailedAttempts(tx, session, now)
  if (!failed?.retryAt) return undefined
  return problem(
    'ATTEMPTS_EXHAUSTED',
    `The skill "${failed.skillName}" has ${MAX_FAILED_ATTEMPTS} failed attempts within 30 days. It can be assessed again from ${failed.retryAt.toISOString()}.`,
  )
}

function assessmentLockedProblem() {
  return problem('ASSESSMENT_LOCKED', 'This assessment has been passed and is closed.')
}

export interface AssessmentScore {
  session: Session
  attempt: Attempt
  marks: Marks
  attemptsLeft: number
}

/** Returns the attempt that is waiting for answers, or throws. */
export async function requireOpenAttempt(tx: Tx, session: Session): Promise<Attempt> {
  const now = session.clock.now()
  const attempt = await findLastAttempt(tx, session.id)
  if (attempt?.passed) throw assessmentLockedProblem()
  if (!attempt || attempt.submittedAt !== undefined) {
    throw problem('NO_OPEN_ATTEMPT', 'There are no questions to answer; generate the assessment first.')
  }
  if (now >= attempt.expiresAt) {
    throw problem('ASSESSMENT_EXPIRED', 'The time limit for these questions has passed; generate new questions.')
  }
  // Concurrent sessions each have an attempt; failures count across all of them.
  const exhaustedProblem = await attemptsExhaustedProblem(tx, session, now)
  if (exhaustedProblem) throw exhaustedProblem
  return attempt
}

/** Marks the open attempt. A passed assessment is closed permanently. */
export async function submitAssessment(
  tx: Tx,
  { session, attempt }: { session: Session; attempt: Attempt },
  input: AnswersInput,
): Promise<AssessmentScore> {
  const { clock } = session
  const now = clock.now()
  const marks = markAnswers(attempt, input)
  const earlierAttempts = await countFailedAttempts(tx, session, now)
  const passedSkills = marks.skills.filter(({ passed }) => passed).map(({ number }) => number)
  await tx
    .updateTable('verification_attempts')
    .set({
      submitted_at: new Date(now),
      correct: marks.correct,
      score: marks.score,
      passed: marks.passed,
      passed_skills: passedSkills,
      answers: JSON.stringify(marks.answers),
    })
    .where('attempt_id', '=', attempt.id)
    .execute()
  await recordAssessmentResponses(tx, session.scope, realClock(clock).now(), attempt, marks)
  // Skills that this attempt passed do not count any more.
  const usedAttempts = marks.passed ? earlierAttempts + 1 : await countFailedAttempts(tx, session, now)
  const attemptsLeft = Math.max(0, MAX_FAILED_ATTEMPTS - usedAttempts)
  const status = marks.passed ? 'completed' : attemptsLeft === 0 ? 'failed' : 'in_assessment'
  const completion = status === 'in_assessment' ? {} : { completedAt: now }
  const changedSession = await changeSession(tx, session, now, { status, extendsSession: true, ...completion })
  if (marks.passed) {
    const assessment = await readAssessment(tx, changedSession, now)
    const data = eventData(changedSession, skillOutcomes(changedSession, status, undefined, assessment))
    await recordEvent(tx, session.scope, clock, 'verification.completed', data)
    await verificationEnded.run(tx, session.id, clock)
  } else if (status === 'failed')
    await recordFailure(tx, clock, changedSession, await readAssessment(tx, changedSession, now))
  return { session: changedSession, attempt, marks, attemptsLeft }
}
