import {
  ERASED,
  openForPeople,
  openPersonal,
  type PersonKey,
  sealForPeople,
  sealPersonal,
} from '../people/identity/person-key.ts'
import type { Items } from './items.ts'
import type { Student } from './session-input.ts'
import type { ChosenSkill, SkillDecision } from './session-skills.ts'

/** The personal values of a session, sealed in one column with the key of the student. */
export interface SessionValues {
  student: Student
  items: Items
  skills: ChosenSkill[]
  returnUrl: string | undefined
}

export function sealSession(
  key: Buffer,
  verificationId: string,
  { student, items, skills, returnUrl }: SessionValues,
): Buffer {
  return sealPersonal(key, { student, items, skills, returnUrl }, sessionPurpose(verificationId))
}

/** Returns the values of a session, or undefined if the student was erased. */
export function openSessionValues(key: PersonKey, verificationId: string, sealed: Uint8Array | null) {
  return openPersonal<SessionValues>(key, sealed, sessionPurpose(verificationId))
}

function sessionPurpose(verificationId: string) {
  return `session ${verificationId}`
}

const NO_ITEMS: Items = { projects: [], workExperiences: [], certificates: [] }

/** Returns the values that are stored without encryption, and shown after the erasure of the student. */
export function redactSession({ student, skills }: Pick<SessionValues, 'student' | 'skills'>): SessionValues {
  return {
    student: { externalStudentId: student.externalStudentId, name: ERASED, email: ERASED },
    items: NO_ITEMS,
    skills: redactSkills(skills),
    returnUrl: undefined,
  }
}

/** Removes the proofs, which can be addresses of the student's own pages. */
export function redactSkills(skills: ChosenSkill[]): ChosenSkill[] {
  return skills.map((skill) => ({ ...skill, proofUrl: [] }))
}

/** The personal values of a reviewer. */
export interface ReviewerValues {
  name: string
  email: string
  company: string
  website?: string | undefined
  phone?: string | undefined
}

const ERASED_REVIEWER: ReviewerValues = { name: ERASED, email: ERASED, company: ERASED }

export function sealReviewer(key: Buffer, verificationId: string, values: ReviewerValues): Buffer {
  return sealPersonal(key, values, reviewerPurpose(verificationId))
}

export function openReviewer(key: PersonKey, verificationId: string, sealed: Uint8Array | null): ReviewerValues {
  return openPersonal<ReviewerValues>(key, sealed, reviewerPurpose(verificationId)) ?? ERASED_REVIEWER
}

function reviewerPurpose(verificationId: string) {
  return `reviewer of ${verificationId}`
}

/** The texts that a reviewer wrote about a student. */
export interface ReviewWords {
  /** Comments by the number of the skill. */
  comments: Record<number, string>
  reason: string | undefined
}

/** Encrypts what a reviewer wrote, for both people. Returns null if one of them was erased. */
export function sealWords(
  { reviewerKey, studentKey }: { reviewerKey: PersonKey; studentKey: PersonKey },
  verificationId: string,
  words: ReviewWords,
): Buffer | null {
  if (reviewerKey === null || studentKey === null) return null
  return sealForPeople([studentKey, reviewerKey], words, wordsPurpose(verificationId))
}

export function openWords(
  { reviewerKey, studentKey }: { reviewerKey: PersonKey; studentKey: PersonKey },
  verificationId: string,
  sealed: Uint8Array | null,
): ReviewWords | undefined {
  return openForPeople<ReviewWords>([studentKey, reviewerKey], sealed, wordsPurpose(verificationId))
}

function wordsPurpose(verificationId: string) {
  return `review of ${verificationId}`
}

export function withoutComments(decisions: SkillDecision[]): SkillDecision[] {
  return decisions.map(({ comment, ...decision }) => ({
    ...decision,
    ...(comment === undefined ? {} : { comment: ERASED }),
  }))
}

export function commentsOf(decisions: SkillDecision[]): Record<number, string> {
  return Object.fromEntries(
    decisions.flatMap(({ skill, comment }) => (comment === undefined ? [] : [[skill, comment] as const])),
  )
}

/** Puts the comments back into the decisions; without them, the marker stays. */
export function withComments(decisions: SkillDecision[], words: ReviewWords | undefined): SkillDecision[] {
  if (!words) return decisions
  return decisions.map((decision) =>
    decision.comment === undefined
      ? decision
      : { ...decision, comment: words.comments[decision.skill] ?? decision.comment },
  )
}
