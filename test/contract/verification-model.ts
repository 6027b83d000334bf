/**
 * A small model of verification sessions, written from the API documentation, not from the code: plain objects and a clock, no
 * database. Its functions return the expected outcome, such as `200` or `409 SESSION_LOCKED`.
 */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface Attempt {
  skills: number[]
  expires: number
  submitted?: number
  passedSkills: number[]
  passed?: boolean
}

export interface ModelStudent {
  sessions: ModelSession[]
}

export interface ModelSession {
  student: ModelStudent
  expires: number
  skills: number[]
  type: string
  method?: 'human' | 'assessment'
  sources: string[]
  reviewer?: string
  /** Email addresses of all reviewers so far. */
  addresses: Set<string>
  /** Number of emails sent to reviewers; only the link in the last one is valid. */
  emails: number
  linkExpires: number
  endorsed?: number[]
  declined?: boolean
  attempts: Attempt[]
}

export const SOURCES = ['w-1', 'p-1', 'c-1']

/** Skills with enough questions. */
export const ASSESSABLE_SKILLS = [1001, 1016, 1021, 1022, 1032, 1036, 1039, 1042, 1075, 1082]
export const OTHER_SKILLS = [1002, 1003, 1004]
const assessableSkills = ({ skills }: ModelSession) => skills.filter((skill) => ASSESSABLE_SKILLS.includes(skill))
const passedSkills = ({ attempts }: ModelSession) => attempts.flatMap((attempt) => attempt.passedSkills)

export function openModelSession(student: ModelStudent, now: number): ModelSession {
  const session: ModelSession = {
    student,
    expires: now + DAY,
    skills: [],
    type: 'manager',
    sources: [],
    addresses: new Set(),
    emails: 0,
    linkExpires: 0,
    attempts: [],
  }
  student.sessions.push(session)
  return session
}

export function statusOf(session: ModelSession, now: number): string {
  if (session.declined) return 'declined'
  if (session.endorsed) return 'completed'
  if (session.attempts.some(({ passed }) => passed)) return 'completed'
  if (session.attempts.length > 0) return countFailedAttempts(session, now) >= 3 ? 'failed' : 'in_assessment'
  if (session.emails > 0) return now < session.linkExpires ? 'pending_review' : 'expired'
  return now < session.expires ? 'open' : 'expired'
}

const isExpired = (session: ModelSession, now: number) => now >= session.expires
const isLocked = (session: ModelSession) => session.emails > 0 || session.attempts.length > 0

/**
 * Counts the student's failed attempts in the last 30 days, in all sessions, for the skill of this session with most failed
 * attempts. Skills that this session has passed do not count.
 */
function countFailedAttempts(session: ModelSession, now: number): number {
  const allAttempts = session.student.sessions.flatMap(({ attempts }) => attempts)
  const remainingSkills = session.skills.filter((skill) => !passedSkills(session).includes(skill))
  const failedCounts = remainingSkills.map(
    (skill) =>
      allAttempts.filter((attempt) => {
        const endedAt = attempt.submitted ?? attempt.expires
        const hasEnded = attempt.submitted !== undefined || now >= attempt.expires
        const isRecent = now - endedAt < 30 * DAY
        return attempt.skills.includes(skill) && hasEnded && isRecent && !attempt.passedSkills.includes(skill)
      }).length,
  )
  return Math.max(0, ...failedCounts)
}

/** Returns the student's other sessions that share a source with this session and have a pending or completed review. */
function sessionsOnSameSources(session: ModelSession, now: number): ModelSession[] {
  return session.student.sessions.filter(
    (other) =>
      other !== session &&
      other.sources.some((source) => session.sources.includes(source)) &&
      (other.endorsed !== undefined || (other.emails > 0 && !other.declined && now < other.linkExpires)),
  )
}

function findSourceError(session: ModelSession, now: number): string | undefined {
  const otherSessions = sessionsOnSameSources(session, now)
  if (
    otherSessions.some(
      ({ type, endorsed }) => type === session.type && endorsed?.some((skill) => session.skills.includes(skill)),
    )
  )
    return '409 DUPLICATE_SKILLS_IN_BUNDLE'
  for (const source of session.sources) {
    const skillsOnSource = new Set(session.skills)
    for (const other of otherSessions.filter(({ sources }) => sources.includes(source)))
      for (const skill of other.endorsed ?? other.skills) skillsOnSource.add(skill)
    if (skillsOnSource.size > 10) return '409 MAX_SKILLS_PER_SOURCE'
  }
  const passed = session.student.sessions.filter((other) => other !== session).flatMap(passedSkills)
  if (session.method === 'assessment' && session.skills.some((skill) => passed.includes(skill)))
    return '409 ASSESSMENT_ALREADY_PASSED'
  return undefined
}

function findReviewerError(session: ModelSession, now: number, reviewer: string): string | undefined {
  const isTaken = sessionsOnSameSources(session, now).some(
    (other) => other.reviewer === reviewer && other.type !== session.type,
  )
  return isTaken ? '409 DUPLICATE_REVIEWER_EMAIL' : undefined
}

/**
 * Sends the review email if the session is complete. Returns an error if a rule is violated; the caller then discards all
 * changes.
 */
function sendIfReady(session: ModelSession, now: number): string | undefined {
  if (session.method !== 'human' || !session.reviewer || session.skills.length === 0 || session.sources.length === 0)
    return undefined
  const error = findSourceError(session, now) ?? findReviewerError(session, now, session.reviewer)
  if (error) return error
  session.emails++
  session.linkExpires = now + 30 * DAY
  return undefined
}

/** Applies all changes of a call to the session or, if it fails, none. */
function applyChange(session: ModelSession, now: number, change: (draft: ModelSession) => string | undefined): string {
  const draft = { ...session, addresses: new Set(session.addresses) }
  const { sessions } = session.student
  const sessionIndex = sessions.indexOf(session)
  sessions[sessionIndex] = draft // the rules read the student's sessions
  const error = change(draft)
  sessions[sessionIndex] = session
  if (error) return error
  if (!isExpired(session, now)) draft.expires = now + DAY
  Object.assign(session, draft)
  return '200'
}

export function storeSkills(session: ModelSession, now: number, skills: number[], type: string): string {
  if (isExpired(session, now)) return '404 SESSION_NOT_FOUND'
  if (isLocked(session)) return '409 SESSION_LOCKED'
  return applyChange(session, now, (draft) => {
    draft.skills = skills
    draft.type = type
    return sendIfReady(draft, now)
  })
}

export function chooseMethod(session: ModelSession, now: number, method: 'human' | 'assessment'): string {
  if (isExpired(session, now)) return '404 SESSION_NOT_FOUND'
  if (isLocked(session)) return session.method === method ? '200' : '409 SESSION_LOCKED'
  return applyChange(session, now, (draft) => {
    draft.method = method
    if (method === 'assessment' && draft.skills.length > 0 && assessableSkills(draft).length === 0)
      return '400 INVALID_VERIFICATION_METHOD'
    return sendIfReady(draft, now)
  })
}

export function storeItems(session: ModelSession, now: number, sources: string[]): string {
  if (sources.length === 0) return '400 NO_ITEMS_SELECTED'
  if (isExpired(session, now)) return '404 SESSION_NOT_FOUND'
  if (!session.method) return '400 VERIFICATION_METHOD_NOT_SET'
  if (isLocked(session)) return '409 SESSION_LOCKED'
  if (sources.some((source) => !SOURCES.includes(source))) return '400 UNKNOWN_ITEM'
  return applyChange(session, now, (draft) => {
    draft.sources = sources
    const { method, reviewer } = draft
    return (
      findSourceError(draft, now) ??
      (method === 'human' && reviewer ? findReviewerError(draft, now, reviewer) : undefined) ??
      sendIfReady(draft, now)
    )
  })
}

export function storeReviewer(session: ModelSession, now: number, reviewer: string): string {
  if (!session.method) return '400 VERIFICATION_METHOD_NOT_SET'
  if (session.method === 'assessment') return '400 INVALID_VERIFICATION_TYPE'
  if (session.endorsed || session.declined) return '409 ALREADY_SUBMITTED'
  if (session.emails > 0 && now >= session.linkExpires) return '410 LINK_EXPIRED'
  if (session.emails === 0 && isExpired(session, now)) return '404 SESSION_NOT_FOUND'
  if (new Set([...session.addresses, reviewer]).size > 3) return '409 TOO_MANY_REVIEWERS'
  return applyChange(session, now, (draft) => {
    const isSameReviewer = draft.reviewer === reviewer
    draft.reviewer = reviewer
    draft.addresses.add(reviewer)
    return (
      findReviewerError(draft, now, reviewer) ??
      (isSameReviewer && draft.emails > 0 ? undefined : sendIfReady(draft, now))
    )
  })
}

/**
 * Submits a review. `emailNumber` is the number of the email whose token is used; `endorsed` is undefined if the reviewer
 * declines.
 */
export function submitReview(
  session: ModelSession,
  now: number,
  emailNumber: number,
  endorsed: number[] | undefined,
): string {
  if (session.method !== 'human' || session.emails === 0 || emailNumber !== session.emails) return '403 INVALID_TOKEN'
  if (session.endorsed || session.declined) return '409 ALREADY_SUBMITTED'
  if (now >= session.linkExpires) return '410 LINK_EXPIRED'
  if (endorsed) session.endorsed = endorsed
  else session.declined = true
  return '200'
}

export function openReviewPage(session: ModelSession, now: number): string {
  if (session.method === 'assessment') return '400 INVALID_VERIFICATION_TYPE'
  if (session.emails === 0) return '404 VERIFICATION_NOT_FOUND'
  return now >= session.linkExpires ? '410 LINK_EXPIRED' : '200'
}

export function generateAssessment(session: ModelSession, now: number): string {
  if (isExpired(session, now)) return '404 SESSION_NOT_FOUND'
  const lastAttempt = session.attempts.at(-1)
  if (lastAttempt?.passed) return '403 ASSESSMENT_LOCKED'
  if (!session.method) return '404 VERIFICATION_NOT_FOUND'
  if (session.method === 'human') return '400 INVALID_VERIFICATION_TYPE'
  if (session.sources.length === 0) return '400 NO_DATA'
  if (session.skills.length === 0) return '400 NO_SKILLS'
  if (countFailedAttempts(session, now) >= 3) return '403 ATTEMPTS_EXHAUSTED'
  if (lastAttempt && lastAttempt.submitted === undefined && now < lastAttempt.expires) return '200'
  const error = findSourceError(session, now)
  if (error) return error
  const skills = assessableSkills(session).filter((skill) => !passedSkills(session).includes(skill))
  if (skills.length === 0) return '400 INVALID_VERIFICATION_METHOD'
  session.attempts.push({ skills, expires: now + HOUR, passedSkills: [] })
  session.expires = now + DAY
  return '200'
}

/** Submits the answers of an assessment: those about all skills, about the first one, or about none are correct. */
export function submitAnswers(session: ModelSession, now: number, correct: 'all' | 'first' | 'none'): string {
  if (isExpired(session, now)) return '404 SESSION_NOT_FOUND'
  const lastAttempt = session.attempts.at(-1)
  if (lastAttempt?.passed) return '403 ASSESSMENT_LOCKED'
  if (!lastAttempt || lastAttempt.submitted !== undefined) return '409 NO_OPEN_ATTEMPT'
  if (now >= lastAttempt.expires) return '409 ASSESSMENT_EXPIRED'
  if (countFailedAttempts(session, now) >= 3) return '403 ATTEMPTS_EXHAUSTED'
  lastAttempt.submitted = now
  const correctCount = { all: lastAttempt.skills.length, first: 1, none: 0 }[correct]
  lastAttempt.passed = correctCount / lastAttempt.skills.length >= 0.7
  lastAttempt.passedSkills = lastAttempt.skills.slice(0, correctCount)
  session.expires = now + DAY
  return '200'
}
