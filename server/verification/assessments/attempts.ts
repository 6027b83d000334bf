import { sql } from 'kysely'
import { describeEvidence } from '../../../sdk/verdict-texts.ts'
import { invalid } from '../../api/invalid.ts'
import type { Detail } from '../../api/problem.ts'
import { skillId } from '../../catalogue/ids.ts'
import { roundConfidence, type Verdict, weighResponses } from '../../measurement/sequential-test.ts'
import { DAY, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { ItemSource } from '../../questions/skill-items.ts'
import type { AssessmentState } from '../outcome.ts'
import type { AnswersInput } from '../schema.ts'
import type { Session } from '../sessions.ts'
import type { AssessmentItem } from './draw-questions.ts'

/** Time limit from generating the questions to submitting the answers. */
const ATTEMPT_TIME_LIMIT_MS = 60 * MINUTE
export const MAX_FAILED_ATTEMPTS = 3
const FAILED_ATTEMPT_WINDOW_MS = 30 * DAY
/** Required percentage of correct answers over all questions. Each skill passes by the measurement model. */
export const PASS_MARK_PERCENT = 70

/** A question with its key, which must never leave the server. */
export interface Question {
  questionId: string
  skill: number
  question: string
  options: string[]
  key: number
  /** The item of the bank. Attempts of earlier versions do not have it. */
  item?: {
    id: string
    source: ItemSource
    difficulty: number
    /** Absent in attempts of earlier versions, which keep the weights of their time. */
    isUnpiloted?: boolean
    options: number[]
    language: Language
  }
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
  { id, userId }: Session,
  now: number,
  number: number,
  items: AssessmentItem[],
): Promise<Attempt> {
  const questions = items.map(
    ({ skill, stem, options, key, itemId, source, difficulty, isUnpiloted, shownOptions, language }): Question => ({
      questionId: newId('Q_', now),
      skill,
      question: stem,
      options,
      key,
      item: { id: itemId, source, difficulty, isUnpiloted, options: shownOptions, language },
    }),
  )
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
      skill_numbers: [...new Set(items.map(({ skill }) => skill))],
      questions: JSON.stringify(questions),
      fingerprints: items.map(({ itemId }) => itemId),
      created_at: new Date(now),
      expires_at: new Date(attempt.expiresAt),
    })
    .execute()
  return attempt
}

/** Returns the IDs of items about these skills that the student has seen, oldest first. */
export async function findSeenItems(queries: Queries, { userId, skills }: Session): Promise<string[]> {
  const rows = await queries
    .selectFrom('verification_attempts')
    .select('fingerprints')
    .where('user_id', '=', userId)
    .where(sql<boolean>`skill_numbers && same_skills(${skills.map(({ number }) => number)}::integer[])`)
    .orderBy('created_at')
    .execute()
  return rows.flatMap(({ fingerprints }) => fingerprints)
}

/** Returns the stems of the questions about these skills that the student has seen. */
export async function findEarlierStems(queries: Queries, { userId, skills }: Session): Promise<Set<string>> {
  const rows = await queries
    .selectFrom('verification_attempts')
    .select('questions')
    .where('user_id', '=', userId)
    .where(sql<boolean>`skill_numbers && same_skills(${skills.map(({ number }) => number)}::integer[])`)
    .execute()
  return new Set(rows.flatMap(({ questions }) => (questions as unknown as Question[]).map(({ question }) => question)))
}

/** Returns the numbers of the skills that the student has passed in this session. */
export async function findPassedSkills(queries: Queries, { id }: Session): Promise<Set<number>> {
  const rows = await queries
    .selectFrom('verification_attempts')
    .select('passed_skills')
    .where('verification_id', '=', id)
    .execute()
  return new Set(rows.flatMap(({ passed_skills }) => passed_skills))
}

/** The failed attempts of the last 30 days at one skill. */
interface FailedAttempts {
  skillName: string
  count: number
  /** When the skill can be assessed again, if the count is at its maximum. */
  retryAt: Date | undefined
}

/**
 * Returns the failed attempts at the skill that has most of them, among the skills that were not passed in this session; attempts of all
 * sessions of the student count. An attempt fails for each skill it did not pass, and for all skills if it was not submitted in time. Attempts
 * at a skill that was merged into another one are attempts at the surviving skill.
 */
export async function findFailedAttempts(
  queries: Queries,
  { id, userId, skills }: Session,
  now: number,
): Promise<FailedAttempts | undefined> {
  const { rows } = await sql<{ skill: number; count: number; failed_at: Date | null }>`
    select skill, count(*)::int as count, (array_agg(failed_at order by failed_at desc))[${MAX_FAILED_ATTEMPTS}::int] as failed_at
    from unnest(${skills.map(({ number }) => number)}::integer[]) as skill, same_skills(array[skill]) as same, verification_attempts a,
      coalesce(a.submitted_at, a.expires_at) as failed_at
    where a.user_id = ${userId} and a.skill_numbers && same and not a.passed_skills && same
      and not exists (select from verification_attempts where verification_id = ${id} and skill = any(passed_skills))
      and case when a.submitted_at is null then a.expires_at <= ${new Date(now)} else true end
      and failed_at > ${new Date(now - FAILED_ATTEMPT_WINDOW_MS)}
    group by skill order by 2 desc, 3 desc nulls last limit 1`.execute(queries)
  const row = rows[0]
  return (
    row && {
      skillName: skills.find(({ number }) => number === row.skill)!.name,
      count: row.count,
      retryAt: row.failed_at ? new Date(row.failed_at.getTime() + FAILED_ATTEMPT_WINDOW_MS) : undefined,
    }
  )
}

/** Returns the highest number of recent failed attempts at any one of the skills, as `findFailedAttempts` counts them. */
export async function countFailedAttempts(queries: Queries, session: Session, now: number): Promise<number> {
  return (await findFailedAttempts(queries, session, now))?.count ?? 0
}

export async function readAssessment(
  queries: Queries,
  session: Session,
  now: number,
): Promise<AssessmentState | undefined> {
  if (session.method !== 'assessment' || session.status === 'open') return undefined
  const submittedAttempts = await queries
    .selectFrom('verification_attempts')
    .select(['score', 'passed_skills', 'skill_numbers', 'questions', 'answers'])
    .where('verification_id', '=', session.id)
    .where('submitted_at', 'is not', null)
    .orderBy('number')
    .execute()
  const areExhausted =
    session.status === 'in_assessment' && (await countFailedAttempts(queries, session, now)) >= MAX_FAILED_ATTEMPTS
  return {
    score: submittedAttempts.at(-1)?.score ?? undefined,
    passedSkills: submittedAttempts.flatMap(({ passed_skills }) => passed_skills),
    assessedSkills: submittedAttempts.flatMap(({ skill_numbers }) => skill_numbers),
    marks: new Map(
      submittedAttempts.flatMap(({ questions, answers }) =>
        // Attempts of earlier versions have no answers.
        answers === null
          ? []
          : markSkills(questions as unknown as Question[], answers as unknown as (number | null)[]).map(
              ({ number, skillId: _, passed: __, ...marks }) => [number, marks] as const,
            ),
      ),
    ),
    exhausted: areExhausted,
  }
}

/** The answers that passed a skill. */
export interface PassedSkill {
  submittedAt: Date
  /** Undefined for attempts of earlier versions, which have neither items nor answers. */
  source: ItemSource | undefined
  language: Language | undefined
  responses: { id: string; difficulty: number; isCorrect: boolean; isUnpiloted: boolean }[]
  confidence: number
}

/** Returns the answers that passed each skill, by the number of the skill. */
export async function findPassedResponses(
  queries: Queries,
  { id }: Pick<Session, 'id'>,
): Promise<Map<number, PassedSkill>> {
  const attempts = await queries
    .selectFrom('verification_attempts')
    .select(['submitted_at', 'questions', 'answers', 'passed_skills'])
    .where('verification_id', '=', id)
    .where('submitted_at', 'is not', null)
    .where('answers', 'is not', null)
    .orderBy('number')
    .execute()
  return new Map(
    attempts.flatMap(({ submitted_at, questions, answers, passed_skills }) => {
      const asked = questions as unknown as Question[]
      const chosen = answers as unknown as (number | null)[]
      const marks = markSkills(asked, chosen)
      return passed_skills.map((number): [number, PassedSkill] => {
        const ofSkill = asked.flatMap((question, index) =>
          question.skill === number ? [{ question, isCorrect: chosen[index] === question.key }] : [],
        )
        return [
          number,
          {
            submittedAt: submitted_at!,
            source: ofSkill[0]?.question.item?.source,
            language: ofSkill[0]?.question.item?.language,
            responses: ofSkill.map(({ question: { questionId, item }, isCorrect }) => ({
              id: item?.id ?? questionId,
              difficulty: item?.difficulty ?? 0,
              isCorrect,
              isUnpiloted: item?.isUnpiloted ?? false,
            })),
            confidence: marks.find((mark) => mark.number === number)!.confidence,
          },
        ]
      })
    }),
  )
}

export interface Marks {
  correct: number
  total: number
  score: number
  passed: boolean
  skills: SkillMarks[]
  /** The index of the chosen option of each question, or null. */
  answers: (number | null)[]
}

interface SkillMarks {
  skillId: string
  number: number
  correct: number
  total: number
  unpilotedQuestions: number
  passed: boolean
  verdict: AssessmentVerdict
  confidence: number
  /** Null for attempts of earlier versions. */
  evidence: { itemSource: ItemSource; language: Language } | null
  /** The evidence in words. */
  summary: string
}

const ASSESSMENT_VERDICTS = {
  verified: 'passed',
  not_verified: 'not_passed',
  inconclusive: 'inconclusive',
} as const satisfies Record<Verdict, string>
type AssessmentVerdict = (typeof ASSESSMENT_VERDICTS)[Verdict]

/**
 * Marks the answers; unanswered questions count as wrong. A skill passes if the answers show it with the certainty that candidates
 * need as well. The attempt passes if its score reaches the pass mark and at least one skill passes.
 */
export function markAnswers({ questions }: Pick<Attempt, 'questions'>, { answers }: AnswersInput): Marks {
  const optionByQuestion = readAnswers(questions, answers)
  const chosen = questions.map(({ questionId, options }) => {
    const option = optionByQuestion.get(questionId)
    return option === undefined ? null : options.indexOf(option)
  })
  const skills = markSkills(questions, chosen)
  const total = questions.length
  const correct = skills.reduce((sum, skill) => sum + skill.correct, 0)
  const score = Math.round((100 * correct) / total)
  return {
    correct,
    total,
    score,
    passed: score >= PASS_MARK_PERCENT && skills.some(({ passed }) => passed),
    skills,
    answers: chosen,
  }
}

/** Marks each skill. `chosen` contains the index of the chosen option of each question, or null. */
function markSkills(questions: Question[], chosen: (number | null)[]): SkillMarks[] {
  const responses = questions.map(({ skill, key, item }, index) => ({
    skill,
    difficulty: item?.difficulty ?? 0,
    isUnpiloted: item?.isUnpiloted ?? false,
    isCorrect: chosen[index] === key,
    item,
  }))
  return [...Map.groupBy(responses, ({ skill }) => skill)].map(([number, skillResponses]) => {
    const { verdict, ...weight } = weighResponses(skillResponses)
    const confidence = roundConfidence(weight.confidence)
    const correct = skillResponses.filter(({ isCorrect }) => isCorrect).length
    const total = skillResponses.length
    // All questions about a skill have the same source and language.
    const { item } = skillResponses[0]!
    return {
      skillId: skillId(number),
      number,
      correct,
      total,
      unpilotedQuestions: skillResponses.filter(({ isUnpiloted }) => isUnpiloted).length,
      passed: verdict === 'verified',
      verdict: ASSESSMENT_VERDICTS[verdict],
      confidence,
      evidence: item ? { itemSource: item.source, language: item.language } : null,
      summary: describeEvidence({ verdict, correct, asked: total, confidence }),
    }
  })
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
