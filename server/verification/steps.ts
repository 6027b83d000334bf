import { invalid } from '../api/invalid.ts'
import { type Detail, problem } from '../api/problem.ts'
import type { LoadedSkills } from '../catalogue/loaded-skills.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../platform/database/database.ts'
import { isWebAddress, notWebAddress } from './fields.ts'
import { chooseItems } from './items.ts'
import { requestReview } from './reviews/review-requests.ts'
import { findReview } from './reviews/reviews.ts'
import type { ItemsInput, SkillsInput, VerificationMethod } from './schema.ts'
import {
  type ChosenSkill,
  changeSession,
  isLocked,
  requireUnlocked,
  type Session,
  verificationNotFound,
} from './sessions.ts'
import { MAX_SKILLS_PER_SOURCE, requireReviewerAvailable, requireSourcesAvailable } from './source-rules.ts'

type StepDeps = Pick<Context, 'queue' | 'clock' | 'vault' | 'config'>

/** Step 1: stores the skills and replaces earlier ones. */
export async function storeSkills(
  tx: Tx,
  deps: StepDeps,
  session: Session,
  input: SkillsInput,
  loaded: LoadedSkills,
): Promise<Session> {
  const now = deps.clock.now()
  requireUnlocked(session, now)
  if (input.skills.length > MAX_SKILLS_PER_SOURCE) {
    throw problem('MAX_SKILLS_PER_SOURCE', `At most ${MAX_SKILLS_PER_SOURCE} skills can be verified in one session.`)
  }
  const skills = readSkills(loaded, input.skills)
  const { endorsementType = 'manager' } = input
  const changed = await changeSession(tx, session, now, { skills, endorsementType, extendsSession: true })
  return requestReviewIfComplete(tx, deps, changed)
}

function readSkills(loaded: LoadedSkills, chosen: SkillsInput['skills']): ChosenSkill[] {
  const seen = new Set<number>()
  const details: Detail[] = []
  const skills = chosen.map(({ skillId: id, proofUrl = [] }, index) => {
    const skill = loaded.byId(id)
    const named = JSON.stringify(id.slice(0, 40))
    if (!skill) throw problem('INVALID_SKILL', `skills[${index}].skillId: skill ${named} not found.`)
    if (seen.has(skill.number)) throw problem('INVALID_SKILL', `skills[${index}].skillId: ${named} is a duplicate.`)
    seen.add(skill.number)
    proofUrl.forEach((url, at) => {
      if (!isWebAddress(url)) details.push(notWebAddress(`skills[${index}].proofUrl[${at}]`))
    })
    return { number: skill.number, name: skill.name, proofUrl }
  })
  if (details.length > 0) throw invalid(details)
  return skills
}

/** Step 2: stores the method. */
export async function chooseMethod(
  tx: Tx,
  deps: StepDeps,
  session: Session,
  {
    serviceVerificationId,
    verificationMethod,
  }: { serviceVerificationId: string; verificationMethod: VerificationMethod },
): Promise<Session> {
  if (serviceVerificationId !== session.id) throw verificationNotFound()
  const now = deps.clock.now()
  if (isLocked(session, now) && session.method === verificationMethod) return session
  requireUnlocked(session, now)
  const changed = await changeSession(tx, session, now, { method: verificationMethod, extendsSession: true })
  return requestReviewIfComplete(tx, deps, changed)
}

/** Step 3: stores the chosen items and replaces earlier ones. */
export async function storeItems(tx: Tx, deps: StepDeps, session: Session, input: ItemsInput): Promise<Session> {
  const now = deps.clock.now()
  if (session.method === null) throw problem('VERIFICATION_METHOD_NOT_SET', 'Choose the method first (step 2).')
  requireUnlocked(session, now)
  const chosen = { ...session, sources: chooseItems(session.items, input) }
  const review = session.method === 'human' ? await findReview(tx, session.id) : undefined
  await requireSourcesAvailable(tx, chosen, now)
  if (review) await requireReviewerAvailable(tx, chosen, review.email, now)
  const changed = await changeSession(tx, session, now, { sources: chosen.sources, extendsSession: true })
  return requestReview(tx, deps, changed, review)
}

/** Requests the review if this step was the last one missing. */
async function requestReviewIfComplete(tx: Tx, deps: StepDeps, session: Session): Promise<Session> {
  if (session.method !== 'human' || session.skills.length === 0 || session.sources.length === 0) return session
  return requestReview(tx, deps, session, await findReview(tx, session.id))
}
