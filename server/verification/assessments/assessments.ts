import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { OwnerScope } from '../../access/caller.ts'
import { type Problem, problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { recordEvent } from '../../events/record.ts'
import { SECOND } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import type { Item, Language } from '../../questions/questions.ts'
import { eventData, skillOutcomes } from '../outcome.ts'
import type { AnswersInput } from '../schema.ts'
import { changeSession, lockSession, type Session } from '../sessions.ts'
import { requireFreeSources } from '../source-rules.ts'
import {
  type Attempt,
  countFailed,
  findLastAttempt,
  insertAttempt,
  type Marks,
  MOST_FAILED,
  markAnswers,
} from './attempts.ts'
import { generationFailed, writeItems } from './question-set.ts'

export const GENERATION_TIMEOUT = 90 * SECOND
/** A process that died while it made questions is waited for this long. */
const CLAIM = GENERATION_TIMEOUT + 10 * SECOND
/** Between looks whether somebody else's questions are there; real milliseconds. */
const LOOK = 100

export interface Generated {
  session: Session
  attempt: Attempt
  alreadyGenerated: boolean
}

/**
 * The session's questions, made by this call or there already. Making them takes up to 90 seconds and happens outside any
 * transaction: the session is claimed, and whoever else asks meanwhile waits for what the claimant makes.
 */
export async function generateAssessment(
  context: Pick<Context, 'db' | 'clock' | 'writer' | 'catalogue' | 'log'>,
  token: string,
  scope: OwnerScope | undefined,
  { timeout = GENERATION_TIMEOUT, language = 'en' }: { timeout?: number; language?: Language } = {},
): Promise<Generated> {
  const { db, clock } = context
  const deadline = performance.now() + timeout
  const claimant = randomUUID()
  for (;;) {
    const found = await db.transaction((tx) => claimOrFind(tx))
    if ('refusal' in found) throw found.refusal
    if ('attempt' in found) return found
    if ('session' in found) return generate(found.session)
    if (performance.now() > deadline) throw generationFailed()
    await pause(LOOK)
  }

  async function claimOrFind(
    tx: Tx,
  ): Promise<Generated | { session: Session } | { refusal: Problem } | { busy: true }> {
    const now = clock.now()
    const session = await lockSession(tx, token, scope, now)
    const last = await requireAssessable(tx, session)
    const exhausted = await findExhaustion(tx, session, now)
    if (exhausted) {
      // Kept although the call is refused: the last attempt may have ended unnoticed.
      if (session.status === 'in_assessment')
        await changeSession(tx, session, now, { status: 'failed', completedAt: now })
      return { refusal: exhausted }
    }
    if (last && isOpen(last, now)) return { session, attempt: last, alreadyGenerated: true }
    await requireFreeSources(tx, session, now)
    if (session.generatingBy !== null && now < session.generatingUntil) return { busy: true }
    await claim(tx, session.id, claimant, now + CLAIM)
    return { session }
  }

  async function generate(session: Session): Promise<Generated> {
    try {
      const items = await writeItems(context, session, { seed: claimant, deadline, language })
      return await db.transaction((tx) => store(tx, items))
    } catch (error) {
      await db.transaction((tx) => release(tx, session.id, claimant)).catch(() => {}) // then it runs out by itself
      throw error
    }
  }

  async function store(tx: Tx, items: Item[]): Promise<Generated> {
    const now = clock.now()
    const session = await lockSession(tx, token, scope, now)
    const last = await requireAssessable(tx, session)
    // The claim may have run out and somebody else's questions be there.
    if (last && isOpen(last, now)) return { session, attempt: last, alreadyGenerated: true }
    if (session.generatingBy !== claimant) throw generationFailed()
    const exhausted = await findExhaustion(tx, session, now)
    if (exhausted) throw exhausted
    await requireFreeSources(tx, session, now)
    const attempt = await insertAttempt(tx, session, now, (last?.number ?? 0) + 1, items)
    const changed = await changeSession(tx, session, now, {
      status: 'in_assessment',
      completedAt: undefined,
      generatingBy: null,
      generatingUntil: 0,
      step: true,
    })
    if (!last) await recordEvent(tx, session.scope, clock, 'verification.initiated', eventData(changed))
    return { session: changed, attempt, alreadyGenerated: false }
  }
}

/** No step of the session: where nothing comes of it, all is as it was. */
async function claim(tx: Tx, verificationId: string, claimant: string, until: number) {
  await sql`update verification_sessions set generating_by = ${claimant}, generating_until = ${new Date(until)}
    where verification_id = ${verificationId}`.execute(tx)
}

async function release(tx: Tx, verificationId: string, claimant: string) {
  await sql`update verification_sessions set generating_by = null, generating_until = null
    where verification_id = ${verificationId} and generating_by = ${claimant}`.execute(tx)
}

/** What stands in the way of questions, in the order in which it is told; answers the last attempt. */
async function requireAssessable(tx: Tx, session: Session): Promise<Attempt | undefined> {
  const last = session.status === 'open' ? undefined : await findLastAttempt(tx, session.id)
  if (last?.passed) throw locked()
  if (session.method === null) throw problem('VERIFICATION_NOT_FOUND', 'Choose the method first (step 2).')
  if (session.method !== 'assessment') {
    throw problem('INVALID_VERIFICATION_TYPE', 'This verification is reviewed by a person: it has no questions.')
  }
  if (session.sources.length === 0)
    throw problem('NO_DATA', 'Choose projects, experience or certificates first (step 3).')
  if (session.skills.length === 0) throw problem('NO_SKILLS', 'Choose skills first (step 1).')
  return last
}

function isOpen({ submittedAt, expiresAt }: Attempt, now: number): boolean {
  return submittedAt === undefined && now < expiresAt
}

async function findExhaustion(tx: Tx, session: Session, now: number): Promise<Problem | undefined> {
  if ((await countFailed(tx, session, now)) < MOST_FAILED) return undefined
  return problem('ATTEMPTS_EXHAUSTED', `${MOST_FAILED} attempts at a skill have failed within 30 days.`)
}

function locked() {
  return problem('ASSESSMENT_LOCKED', 'This assessment is passed and closed.')
}

export interface SubmittedAssessment {
  session: Session
  attempt: Attempt
  marks: Marks
  attemptsLeft: number
}

/** The attempt that answers are awaited for. */
export async function requireOpenAttempt(tx: Tx, session: Session, now: number): Promise<Attempt> {
  const attempt = await findLastAttempt(tx, session.id)
  if (attempt?.passed) throw locked()
  if (!attempt || attempt.submittedAt !== undefined) {
    throw problem('NO_OPEN_ATTEMPT', 'There are no questions to answer: generate them first.')
  }
  if (now >= attempt.expiresAt) {
    throw problem('ASSESSMENT_EXPIRED', 'The time for these questions is over; generate new ones.')
  }
  // Sessions side by side have an attempt each; what fails in one ends it in all.
  const exhausted = await findExhaustion(tx, session, now)
  if (exhausted) throw exhausted
  return attempt
}

/** Marks the open attempt. Passed, the assessment is closed for good. */
export async function submitAssessment(
  tx: Tx,
  { clock }: Pick<Context, 'clock'>,
  { session, attempt }: { session: Session; attempt: Attempt },
  input: AnswersInput,
): Promise<SubmittedAssessment> {
  const now = clock.now()
  const marks = markAnswers(attempt, input)
  const attemptsLeft = Math.max(0, MOST_FAILED - 1 - (await countFailed(tx, session, now)))
  const passedSkills = marks.passed ? marks.skills.filter(({ passed }) => passed).map(({ number }) => number) : []
  await tx
    .updateTable('verification_attempts')
    .set({
      submitted_at: new Date(now),
      correct: marks.correct,
      score: marks.score,
      passed: marks.passed,
      passed_skills: passedSkills,
    })
    .where('attempt_id', '=', attempt.id)
    .execute()
  const status = marks.passed ? 'completed' : attemptsLeft === 0 ? 'failed' : 'in_assessment'
  const ended = status === 'in_assessment' ? {} : { completedAt: now }
  const changed = await changeSession(tx, session, now, { status, step: true, ...ended })
  if (marks.passed) {
    const state = { score: marks.score, passedSkills, exhausted: false }
    const data = eventData(changed, skillOutcomes(changed, status, undefined, state))
    await recordEvent(tx, session.scope, clock, 'verification.completed', data)
  }
  return { session: changed, attempt, marks, attemptsLeft }
}
