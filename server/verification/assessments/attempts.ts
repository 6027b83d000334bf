import { sql } from 'kysely'
import { invalid } from '../../api/invalid.ts'
import type { Detail } from '../../api/problem.ts'
import { skillId } from '../../catalogue/ids.ts'
import { DAY, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { fingerprint } from '../../questions/fingerprint.ts'
import type { Item } from '../../questions/questions.ts'
import type { AssessmentState } from '../outcome.ts'
import type { AnswersInput } from '../schema.ts'
import type { Session } from '../sessions.ts'

/** Time limit from generating the questions to submitting the answers. */
const ATTEMPT_TIME_LIMIT_MS = 60 * MINUTE
export const MAX_FAILED_ATTEMPTS = 3
const FAILED_ATTEMPT_WINDOW_MS = 30 * DAY
/** Required percentage of correct answers over all questions; `SKILL_PASS_MARK_PERCENT` applies to each skill. */
export const PASS_MARK_PERCENT = 70
const SKILL_PASS_MARK_PERCENT = 60

/** A question with its key, which must never leave the server. */
interface Question {
  questionId: string
  skill: number
  question: string
  options: string[]
  key: number
}

/** One set of questions for a student; times in epoch milliseconds. */
export interface Attempt {
  id: string
  number: number
  questions: Question[]
  expiresAt: number
  submittedAt: number | undefined
  score: number | undefined
  passed: boolean | undefined
  passedSkills: number[]
}

/** Returns the questions without their keys. */
export function publicQuestions({ questions }: Attempt) {
  return questions.map(({ questionId, question, options }) => ({ questionId, question, options }))
}

export async function findLastAttempt(queries: Queries, verificationId: string): Promise<Attempt | undefined> {
  const row = await queries
    .selectFrom('verification_attempts')
    .select(['attempt_id', 'number', 'questions', 'expires_at', 'submitted_at', 'score', 'passed', 'passed_skills'])
    .where('verification_id', '=', verificationId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return (
    row && {
      id: row.attempt_id,
      number: row.number,
      questions: row.questions as unknown as Question[],
      expiresAt: row.expires_at.getTime(),
      submittedAt: row.submitted_at?.getTime(),
      score: row.score ?? undefined,
      passed: row.passed ?? undefined,
      passedSkills: row.passed_skills,
    }
  )
}

export async function insertAttempt(
  tx: Tx,
  { id, userId, skills }: Session,
  now: number,
  number: number,
  items: Item[],
): Promise<Attempt> {
  const questions = items.map(({ skill, stem, options, key }) => ({
    questionId: newId('Q_', now),
    skill,
    question: stem,
    options: [...options],
    key,
  }))
  const attempt: Attempt = {
    id: newId('VA_', now),
    number,
    questions,
    expiresAt: now + ATTEMPT_TIME_LIMIT_MS,
    submittedAt: undefined,
    score: undefined,
    passed: undefined,
    passedSkills: [],
  }
  await tx
    .insertInto('verification_attempts')
    .values({
      attempt_id: attempt.id,
      verification_id: id,
      user_id: userId,
      number,
      skill_numbers: skills.map((skill) => skill.number),
      questions: JSON.stringify(questions),
      fingerprints: items.map(fingerprint),
      created_at: new Date(now),
      expires_at: new Date(attempt.expiresAt),
    })
    .execute()
  return attempt
}

/** Returns the fingerprints of items about these skills that the student has seen, oldest first. */
export async function findSeenFingerprints(queries: Queries, { userId, skills }: Session): Promise<string[]> {
  const rows = await queries
    .selectFrom('verification_attempts')
    .select('fingerprints')
    .where('user_id', '=', userId)
    .where(sql<boolean>`skill_numbers && ${skills.map(({ number }) => number)}::integer[]`)
    .orderBy('created_at')
    .execute()
  return rows.flatMap(({ fingerprints }) => fingerprints)
}

/** Returns the stems of the questions in earlier attempts of the session. */
export async function findEarlierStems(queries: Queries, verificationId: string): Promise<Set<string>> {
  const rows = await queries
    .selectFrom('verification_attempts')
    .select('questions')
    .where('verification_id', '=', verificationId)
    .execute()
  return new Set(rows.flatMap(({ questions }) => (questions as unknown as Question[]).map(({ question }) => question)))
}

/**
 * Returns the highest number of recent failed attempts at any one of the skills, across the student's sessions. An attempt fails
 * for each skill it did not pass, and for all skills if it was not submitted in time.
 */
export async function countFailedAttempts(queries: Queries, { userId, skills }: Session, now: number): Promise<number> {
  const { rows } = await sql<{ failed: number }>`
    select count(*)::int as failed
    from verification_attempts a, unnest(a.skill_numbers) as skill
    where a.user_id = ${userId} and skill = any(${skills.map(({ number }) => number)}::integer[])
      and not skill = any(a.passed_skills)
      and case when a.submitted_at is null then a.expires_at <= ${new Date(now)} else true end
      and coalesce(a.submitted_at, a.expires_at) > ${new Date(now - FAILED_ATTEMPT_WINDOW_MS)}
    group by skill order by 1 desc limit 1`.execute(queries)
  return rows[0]?.failed ?? 0
}

export async function readAssessment(
  queries: Queries,
  session: Session,
  now: number,
): Promise<AssessmentState | undefined> {
  if (session.method !== 'assessment' || session.status === 'open') return undefined
  const lastSubmitted = await queries
    .selectFrom('verification_attempts')
    .select(['score', 'passed_skills'])
    .where('verification_id', '=', session.id)
    .where('submitted_at', 'is not', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  const areExhausted =
    session.status === 'in_assessment' && (await countFailedAttempts(queries, session, now)) >= MAX_FAILED_ATTEMPTS
  return {
    score: lastSubmitted?.score ?? undefined,
    passedSkills: lastSubmitted?.passed_skills ?? [],
    exhausted: areExhausted,
  }
}

export interface Marks {
  correct: number
  total: number
  score: number
  passed: boolean
  skills: { skillId: string; number: number; correct: number; total: number; passed: boolean }[]
}

/** Marks the answers; unanswered questions count as wrong. */
export function markAnswers({ questions }: Attempt, { answers }: AnswersInput): Marks {
  const optionByQuestion = readAnswers(questions, answers)
  const marksBySkill = new Map<number, { correct: number; total: number }>()
  let correct = 0
  for (const { questionId, skill, options, key } of questions) {
    const marks = marksBySkill.get(skill) ?? { correct: 0, total: 0 }
    marksBySkill.set(skill, marks)
    marks.total++
    if (optionByQuestion.get(questionId) === options[key]) {
      marks.correct++
      correct++
    }
  }
  const total = questions.length
  const score = Math.round((100 * correct) / total)
  return {
    correct,
    total,
    score,
    passed: score >= PASS_MARK_PERCENT,
    skills: [...marksBySkill].map(([number, marks]) => ({
      skillId: skillId(number),
      number,
      ...marks,
      passed: 100 * marks.correct >= SKILL_PASS_MARK_PERCENT * marks.total,
    })),
  }
}

function readAnswers(questions: Question[], answers: AnswersInput['answers']): Map<string, string> {
  const questionById = new Map(questions.map((question) => [question.questionId, question]))
  const optionByQuestion = new Map<string, string>()
  const details: Detail[] = []
  answers.forEach(({ questionId, option }, index) => {
    const question = questionById.get(questionId)
    if (!question) details.push({ path: `answers[${index}].questionId`, message: 'is not a question of this attempt' })
    else if (optionByQuestion.has(questionId))
      details.push({ path: `answers[${index}].questionId`, message: 'is a duplicate' })
    else if (!question.options.includes(option))
      details.push({ path: `answers[${index}].option`, message: 'is not an option of this question' })
    else optionByQuestion.set(questionId, option)
  })
  if (details.length > 0) throw invalid(details)
  return optionByQuestion
}
