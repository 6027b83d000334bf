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
import { changeSession, isLocked, requireUnlocked, type Session, verificationNotFoundProblem } from './sessions.ts'
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
  const now = deps.clock.now()
  requireUnlocked(session)
  if (input.skills.length > MAX_SKILLS_PER_SOURCE) {
    throw problem(
      'MAX_SKILLS_PER_SOURCE',
      `At most ${MAX_SKILLS_PER_SOURCE} skills can be verified in one session, because a source can have at most ${MAX_SKILLS_PER_SOURCE} skills.`,
    )
  }
  const skills = readSkills(loaded, input.skills)
  const { endorsementType = 'manager' } = input
  const changedSession = await changeSession(tx, session, now, { skills, endorsementType, extendsSession: true })
  return requestReviewIfComplete(tx, deps, changedSession)
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

/** Step 2: stores the verification method. */
export async function chooseMethod(
  tx: Tx,
  deps: StepDeps,
  session: Session,
  {
    serviceVerificationId,
    verificationMethod,
  }: { serviceVerificationId: string; verificationMethod: VerificationMethod },
): Promise<Session> {
  if (serviceVerificationId !== session.id) throw verificationNotFoundProblem()
  const now = deps.clock.now()
  if (isLocked(session) && session.method === verificationMethod) return session
  requireUnlocked(session)
  const changedSession = await changeSession(tx, session, now, { method: verificationMethod, extendsSession: true })
  return requestReviewIfComplete(tx, deps, changedSession)
}

/** Step 3: stores the chosen items, and replaces those stored before. */
export async function storeItems(tx: Tx, deps: StepDeps, session: Session, input: ItemsInput): Promise<Session> {
  const now = deps.clock.now()
  if (session.method === null)
    throw problem('VERIFICATION_METHOD_NOT_SET', 'Choose the verification method first (step 2).')
  requireUnlocked(session)
  const updatedSession = { ...session, sources: chooseItems(session.items, input) }
  const review = session.method === 'human' ? await findReview(tx, session.id) : undefined
  await requireSourcesAvailable(tx, updatedSession, now)
  if (review) await requireReviewerAvailable(tx, updatedSession, review, now)
  const changedSession = await changeSession(tx, session, now, {
    sources: updatedSession.sources,
    extendsSession: true,
  })
  return requestReview(tx, deps, changedSession, review)
}

/** Requests the review if this step was the last one missing. */
async function requestReviewIfComplete(tx: Tx, deps: StepDeps, session: Session): Promise<Session> {
  if (session.method !== 'human' || session.skills.length === 0 || session.sources.length === 0) return session
  return requestReview(tx, deps, session, await findReview(tx, session.id))
}
