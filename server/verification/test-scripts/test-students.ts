import { sql } from 'kysely'
import { isNotPaused } from '../../access/service-switch.ts'
import { Problem, problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { realClock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { isDatabaseUnavailable } from '../../platform/database/outage.ts'
import { startDuePoller } from '../../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../../platform/jobs/queue.ts'
import { generateAssessment, requireOpenAttempt, submitAssessment } from '../assessments/assessments.ts'
import { storeReviewer } from '../reviews/reviewers.ts'
import { atSessionTime, hasTestClock, lockVerification, type Session } from '../sessions.ts'
import { chooseMethod, storeItems, storeSkills } from '../steps.ts'
import { actionDelayMs } from './action-times.ts'
import type { ScriptError, ScriptedAttempt } from './schema.ts'
import { scriptedAnswers } from './scripted-answers.ts'

/** Notification that a session with a scripted student was opened. */
export const TEST_STUDENT_DUE = 'test_student_due'

const DEFAULT_REVIEWER = { name: 'Test Reviewer', email: 'endorse@test.attestry.example', company: 'Test Company' }

/** Processes the due actions of scripted students continuously. Any number of processes may run this concurrently. */
export function startTestStudents(context: Context): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const poller = startDuePoller({
    clock,
    nextDueAt: () => nextActionDue(context),
    work: (isStopped) => processDueStudents(context, isStopped),
    onError: (error) => log.warn({ err: error }, 'acting for test students failed, retrying'),
  })
  db.onCommitted(TEST_STUDENT_DUE, poller.wake)
  keyring.onPauseChanged(poller.wake)
  return { stop: poller.stop }
}

async function nextActionDue({ db, keyring }: Context): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select min(s.test_student_at) as due from verification_sessions s
    where s.test_student_at is not null and ${hasTestClock(undefined)}
      and ${isNotPaused(sql`s.org_id`, keyring.pausedOrganisations())}`.execute(db.queries)
  return rows[0]!.due?.getTime()
}

/** Processes the actions of scripted students that are due now, in real time or with a test clock. Those of paused organisations wait. */
export async function processDueStudents(
  context: Context,
  isStopped: () => boolean = () => false,
  testClockId?: string,
): Promise<void> {
  const { db, clock, keyring } = context
  await keyring.ensureFresh()
  while (!isStopped()) {
    const { rows } = await sql<{ verification_id: string }>`
      select s.verification_id from verification_sessions s
      where s.test_student_at <= ${new Date(clock.now())} and ${hasTestClock(testClockId)}
        and ${isNotPaused(sql`s.org_id`, keyring.pausedOrganisations())}
      order by s.test_student_at limit 1`.execute(db.queries)
    if (!rows[0]) return
    await act(context, rows[0].verification_id)
  }
}

/**
 * Runs the next action of a student. A step that is rejected ends the script, and so does an unexpected error: otherwise it would be
 * repeated for ever. The partner reads the error in the verification.
 */
async function act(context: Context, id: string): Promise<void> {
  // Claims of assessments are in real time; the session has its own clock.
  const ownContext = { ...context, clock: realClock(context.clock) }
  try {
    const session = await context.db.transaction((tx) => takeSteps(tx, ownContext, id))
    if (session) await takeAssessment(ownContext, session)
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    const isRejection = error instanceof Problem
    const { code, message } = isRejection ? error : problem('SERVER_ERROR', 'An internal error ended the script.')
    const hasEnded = await context.db.transaction((tx) => endWithError(tx, id, { code, message }))
    // Another process may have run the same action.
    if (!hasEnded) return
    const reason = isRejection ? 'a step was rejected' : 'of an error'
    context.log.warn({ err: error, verification_id: id }, `the script of a test student ended, because ${reason}`)
  }
}

/** Ends a script and stores the error. Returns false if the script had ended before. */
async function endWithError(tx: Tx, id: string, error: ScriptError): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update verification_sessions set test_student_at = null, test_script_error = ${JSON.stringify(error)}::text::jsonb
    where verification_id = ${id} and test_student_at is not null`.execute(tx)
  return numAffectedRows === 1n
}

/** Takes the steps that are left, and names the reviewer. Returns the session if its assessment is due. */
async function takeSteps(tx: Tx, context: Context, id: string): Promise<Session | undefined> {
  const session = (await lockVerification(tx, context.clock, id))!
  const { testScript, method, sources, status } = session
  const isActive = (status === 'open' || status === 'in_assessment') && session.clock.now() < session.expiresAt
  if (!testScript?.student || !isActive) return endScript(tx, id)
  if (method === 'assessment' && sources.length > 0) return session
  const { student, reviewer } = testScript
  const deps = atSessionTime(context, session)
  const loaded = await context.catalogue.load({ ids: student.skills })
  const skills = student.skills.map((skillId) => ({ skillId }))
  let current = await storeSkills(tx, deps, session, { sessionToken: '', skills }, loaded)
  current = await chooseMethod(tx, deps, current, { serviceVerificationId: id, verificationMethod: student.method })
  current = await storeItems(tx, deps, current, { sessionToken: '', ...allItems(session) })
  if (student.method === 'assessment') return current
  const { name, email, company } = { ...DEFAULT_REVIEWER, ...reviewer }
  await storeReviewer(tx, deps, current, { name, email, company, website: undefined, phone: undefined })
  return endScript(tx, id)
}

function allItems({ items }: Session) {
  return {
    projectIds: items.projects.map(({ externalProjectId }) => externalProjectId),
    workExperienceIds: items.workExperiences.map(({ externalExperienceId }) => externalExperienceId),
    credentialIds: items.certificates.map(({ externalCertificateId }) => externalCertificateId),
  }
}

/** Takes the next attempt at the assessment. If this is repeated after a crash, the same questions are answered. */
async function takeAssessment(context: Context, { id }: Session): Promise<void> {
  const lock = async (tx: Tx) => (await lockVerification(tx, context.clock, id))!
  await generateAssessment(context, lock)
  await context.db.transaction(async (tx) => {
    const session = await lock(tx)
    const attempt = await requireOpenAttempt(tx, session)
    const student = session.testScript!.student!
    const attempts: ScriptedAttempt[] = student.attempts ?? [{}]
    const script = attempts[attempt.number - 1]
    if (!script) return endScript(tx, id)
    const { session: changed } = await submitAssessment(tx, { session, attempt }, scriptedAnswers(attempt, script))
    const hasNextAttempt = changed.status === 'in_assessment' && attempt.number < attempts.length
    await scheduleAction(tx, id, hasNextAttempt ? session.clock.now() + actionDelayMs(student) : null)
    return undefined
  })
}

async function endScript(tx: Tx, id: string): Promise<undefined> {
  await scheduleAction(tx, id, null)
}

async function scheduleAction(tx: Tx, id: string, time: number | null): Promise<void> {
  await sql`update verification_sessions set test_student_at = ${time === null ? null : new Date(time)}
    where verification_id = ${id}`.execute(tx)
}
