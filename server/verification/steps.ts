import { type Detail, problem } from '../api/problem.ts'
import { skillNumber } from '../catalogue/ids.ts'
import type { Snapshot } from '../catalogue/snapshot.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../platform/database/database.ts'
import { invalid } from '../platform/http/validation.ts'
import { isWebAddress, notWebAddress } from './fields.ts'
import { chooseItems } from './items.ts'
import { requestReview } from './reviews/review-requests.ts'
import { findReview } from './reviews/reviews.ts'
import type { ItemsInput, Method, SkillsInput } from './schema.ts'
import {
  changeSession,
  isLocked,
  requireUnlocked,
  type Session,
  type SessionSkill,
  verificationNotFound,
} from './sessions.ts'
import { MOST_SKILLS, requireFreeReviewer, requireFreeSources } from './source-rules.ts'

type Tools = Pick<Context, 'queue' | 'clock' | 'vault' | 'config' | 'catalogue'>

/** Step 1. What was chosen before is replaced. */
export async function storeSkills(tx: Tx, tools: Tools, session: Session, input: SkillsInput): Promise<Session> {
  const now = tools.clock.now()
  requireUnlocked(session, now)
  if (input.skills.length > MOST_SKILLS) {
    throw problem('MAX_SKILLS_PER_SOURCE', `At most ${MOST_SKILLS} skills can be verified at once.`)
  }
  const skills = readSkills(tools.catalogue.current, input.skills)
  const { endorsementType = 'manager' } = input
  const changed = await changeSession(tx, session, now, { skills, endorsementType, step: true })
  return requestReviewOf(tx, tools, changed)
}

function readSkills(catalogue: Snapshot, chosen: SkillsInput['skills']): SessionSkill[] {
  const seen = new Set<number>()
  const details: Detail[] = []
  const skills = chosen.map(({ skillId: id, proofUrl = [] }, index) => {
    const number = skillNumber(id)
    const skill = number === undefined ? undefined : catalogue.skill(number)
    const named = JSON.stringify(id.slice(0, 40))
    if (!skill) throw problem('INVALID_SKILL', `skills[${index}].skillId: there is no skill ${named}.`)
    if (seen.has(skill.number)) throw problem('INVALID_SKILL', `skills[${index}].skillId: ${named} comes twice.`)
    seen.add(skill.number)
    proofUrl.forEach((url, at) => {
      if (!isWebAddress(url)) details.push(notWebAddress(`skills[${index}].proofUrl[${at}]`))
    })
    return { number: skill.number, name: skill.name, proofUrl }
  })
  if (details.length > 0) throw invalid(details)
  return skills
}

/** Step 2. */
export async function chooseMethod(
  tx: Tx,
  tools: Tools,
  session: Session,
  { serviceVerificationId, verificationMethod }: { serviceVerificationId: string; verificationMethod: Method },
): Promise<Session> {
  if (serviceVerificationId !== session.id) throw verificationNotFound()
  const now = tools.clock.now()
  if (isLocked(session, now) && session.method === verificationMethod) return session
  requireUnlocked(session, now)
  const changed = await changeSession(tx, session, now, { method: verificationMethod, step: true })
  return requestReviewOf(tx, tools, changed)
}

/** Step 3. Items that were stored earlier and are not chosen again are dropped. */
export async function storeItems(tx: Tx, tools: Tools, session: Session, input: ItemsInput): Promise<Session> {
  const now = tools.clock.now()
  if (session.method === null) throw problem('VERIFICATION_METHOD_NOT_SET', 'Choose the method first (step 2).')
  requireUnlocked(session, now)
  const chosen = { ...session, sources: chooseItems(session.items, input) }
  const review = session.method === 'human' ? await findReview(tx, session.id) : undefined
  await requireFreeSources(tx, chosen, now)
  if (review) await requireFreeReviewer(tx, chosen, review.email, now)
  const changed = await changeSession(tx, session, now, { sources: chosen.sources, step: true })
  return requestReview(tx, tools, changed, review)
}

/** The last missing piece may be any of the steps. */
async function requestReviewOf(tx: Tx, tools: Tools, session: Session): Promise<Session> {
  if (session.method !== 'human' || session.skills.length === 0 || session.sources.length === 0) return session
  return requestReview(tx, tools, session, await findReview(tx, session.id))
}
