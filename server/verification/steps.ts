import { invalid } from '../api/invalid.ts'
import { type Detail, problem } from '../api/problem.ts'
import { skillNumber } from '../catalogue/ids.ts'
import type { LoadedSkills } from '../catalogue/loaded-skills.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../platform/database/database.ts'
import { invalidWebAddressDetail, isWebAddress } from './fields.ts'
import { chooseItems } from './items.ts'
import { requestReview } from './reviews/review-requests.ts'
import { findReview } from './reviews/reviews.ts'
import type { ItemsInput, SkillsInput, VerificationMethod } from './schema.ts'
import type { ChosenSkill } from './session-skills.ts'
import {
  changeSession,
  isLocked,
  requireUnlocked,
  type Session,
  type SessionChange,
  verificationNotFoundProblem,
} from './sessions.ts'
import { MAX_SKILLS_PER_SOURCE, requireReviewerAvailable, requireSourcesAvailable } from './source-rules.ts'

type StepDeps = Pick<Context, 'queue' | 'clock' | 'vault' | 'config' | 'mailboxes'>

/** Step 1: stores the skills to verify, and replaces those stored before. */
export async function storeSkills(
  tx: Tx,
  deps: StepDeps,
  session: Session,
  input: SkillsInput,
  loaded: LoadedSkills,
): Promise<Session> {
  const change = skillsChange(session, input, loaded)
  return requestReviewIfComplete(tx, deps, await changeSession(tx, session, deps.clock.now(), change))
}

/** Returns the change of step 1. */
export function skillsChange(session: Session, input: SkillsInput, loaded: LoadedSkills): SessionChange {
  requireUnlocked(session)
  if (input.skills.length > MAX_SKILLS_PER_SOURCE) {
    throw problem(
      'MAX_SKILLS_PER_SOURCE',
      `At most ${MAX_SKILLS_PER_SOURCE} skills can be verified in one session, because a source can have at most ${MAX_SKILLS_PER_SOURCE} skills.`,
    )
  }
  const skills = readSkills(loaded, input.skills)
  const { endorsementType = 'manager' } = input
  return { skills, endorsementType, extendsSession: true }
}

function readSkills(loaded: LoadedSkills, skillChoices: SkillsInput['skills']): ChosenSkill[] {
  const idBySkill = new Map<number, string>()
  const details: Detail[] = []
  const skills = skillChoices.map(({ skillId: id, proofUrl = [] }, index) => {
    const skill = loaded.byId(id)
    const quotedId = JSON.stringify(id.slice(0, 40))
    if (!skill) throw problem('INVALID_SKILL', `skills[${index}].skillId: skill ${quotedId} not found.`)
    const sameId = idBySkill.get(skill.number)
    if (sameId !== undefined)
      throw problem(
        'INVALID_SKILL',
        `skills[${index}].skillId: ${quotedId} is ${sameId === id ? 'a duplicate' : `the same skill as ${sameId}`}.`,
      )
    idBySkill.set(skill.number, id)
    proofUrl.forEach((url, urlIndex) => {
      if (!isWebAddress(url)) details.push(invalidWebAddressDetail(`skills[${index}].proofUrl[${urlIndex}]`))
    })
    // The ID of a merged skill stays as sent, so that the partner finds it in the results.
    return { number: skillNumber(id)!, name: skill.name, proofUrl }
  })
  if (details.length > 0) throw invalid(details)
  return skills
}

interface MethodChoice {
  serviceVerificationId: string
  verificationMethod: VerificationMethod
}

/** Step 2: stores the verification method. */
export async function chooseMethod(tx: Tx, deps: StepDeps, session: Session, choice: MethodChoice): Promise<Session> {
  const change = methodChange(session, choice)
  if (!change) return session
  return requestReviewIfComplete(tx, deps, await changeSession(tx, session, deps.clock.now(), change))
}

/** Returns the change of step 2; undefined for a session that can no longer change and already has the method. */
export function methodChange(
  session: Session,
  { serviceVerificationId, verificationMethod }: MethodChoice,
): SessionChange | undefined {
  if (serviceVerificationId !== session.id) throw verificationNotFoundProblem()
  if (isLocked(session) && session.method === verificationMethod) return undefined
  requireUnlocked(session)
  return { method: verificationMethod, extendsSession: true }
}

/** Step 3: stores the chosen items, and replaces those stored before. */
export async function storeItems(tx: Tx, deps: StepDeps, session: Session, input: ItemsInput): Promise<Session> {
  const now = deps.clock.now()
  const change = itemsChange(session, input)
  const updatedSession = { ...session, sources: change.sources }
  const review = session.method === 'human' ? await findReview(tx, session.id) : undefined
  await requireSourcesAvailable(tx, updatedSession, now)
  if (review) await requireReviewerAvailable(tx, updatedSession, review, now)
  return requestReview(tx, deps, await changeSession(tx, session, now, change), review)
}

/** Returns the change of step 3. */
export function itemsChange(session: Session, input: ItemsInput) {
  if (session.method === null)
    throw problem('VERIFICATION_METHOD_NOT_SET', 'Choose the verification method first (step 2).')
  requireUnlocked(session)
  return { sources: chooseItems(session.items, input), extendsSession: true } satisfies SessionChange
}

/** Requests the review if this step was the last one missing. */
async function requestReviewIfComplete(tx: Tx, deps: StepDeps, session: Session): Promise<Session> {
  if (session.method !== 'human' || session.skills.length === 0 || session.sources.length === 0) return session
  return requestReview(tx, deps, session, await findReview(tx, session.id))
}
