import { findBrand, getPublicName } from '../branding/branding.ts'
import { pageBrand } from '../branding/schema.ts'
import { skillId } from '../catalogue/ids.ts'
import type { Context } from '../context.ts'
import type { Queries } from '../platform/database/database.ts'
import { findNotAssessableSkills } from './assessments/assessable-skills.ts'
import { readAssessment } from './assessments/attempts.ts'
import { findVerificationCredentials } from './credential-hooks.ts'
import { findEvidence } from './endorsements/endorsements.ts'
import { type GuardianState, readGuardianState } from './guardian-consents.ts'
import { itemRecords } from './items.ts'
import { skillOutcomes, statusAt, verificationRecord } from './outcome.ts'
import { listProofFiles, proofFileRecord } from './proofs/proof-files.ts'
import { findReview, reviewerRecord } from './reviews/reviews.ts'
import { type Session, skillRecord } from './sessions.ts'

/** Builds the full session for the student's page. */
export async function readFullSession(queries: Queries, context: Pick<Context, 'catalogue'>, session: Session) {
  const now = session.clock.now()
  const review = await findReview(queries, session.id)
  const assessment = await readAssessment(queries, session, now)
  const brand = await findBrand(queries, session.scope.orgId)
  const status = statusAt(session, now, review, assessment)
  const hasEnded = status === 'completed' || status === 'declined' || status === 'failed'
  return {
    serviceVerificationId: session.id,
    serviceUserId: session.userId,
    status,
    verificationMethod: session.method,
    endorsementType: session.endorsementType,
    student: session.student,
    ...session.items,
    skills: session.skills.map(skillRecord),
    ...(await readNotAssessable(queries, context, session)),
    stored: itemRecords(session.userId, session.items, session.sources),
    proofFiles: (await listProofFiles(queries, session)).map(proofFileRecord),
    reviewer: review ? reviewerRecord(session.id, review) : null,
    ...(await findEvidence(queries, session, review)),
    ...(await guardianField(queries, session)),
    ...(hasEnded
      ? { outcomes: skillOutcomes(session, status, session.method === 'human' ? review : undefined, assessment) }
      : {}),
    ...(session.completedAt === undefined ? {} : { completedAt: new Date(session.completedAt).toISOString() }),
    expiresAt: new Date(session.expiresAt).toISOString(),
    ...(session.testClockId === null ? {} : { testClockId: session.testClockId }),
    ...(session.returnUrl === undefined ? {} : { returnUrl: session.returnUrl }),
    organisationName: brand?.name ?? (await getPublicName(queries, session.scope.orgId)),
    ...(brand ? { brand: pageBrand(brand) } : {}),
  }
}

/** Returns the state of the guardian's consent. Responses do not contain it if the organisation has no rule for students below 18. */
async function guardianField(queries: Queries, session: Session): Promise<{ guardianConsent?: GuardianState }> {
  const guardianConsent = await readGuardianState(queries, session)
  return guardianConsent === 'not_required' ? {} : { guardianConsent }
}

/** Returns the skills that cannot be assessed, for responses. Without the method `assessment`, responses do not contain the field. */
export async function readNotAssessable(
  queries: Queries,
  context: Pick<Context, 'catalogue'>,
  session: Session,
): Promise<{ notAssessable?: string[] }> {
  if (session.method !== 'assessment') return {}
  const skills = await findNotAssessableSkills(queries, context, session)
  return { notAssessable: skills.map(({ number }) => skillId(number)) }
}

/** Builds the status and the outcome of each skill for the partner, with the credentials that were issued. */
export async function readVerification(queries: Queries, session: Session) {
  const now = session.clock.now()
  const review = session.method === 'human' ? await findReview(queries, session.id) : undefined
  const evidence = await findEvidence(queries, session, review)
  const { testScriptError } = session
  const { credentials } = await findVerificationCredentials.run(queries, session.id)
  return {
    ...verificationRecord(session, now, review, await readAssessment(queries, session, now), evidence),
    ...(testScriptError ? { testScript: { ended: true as const, ...testScriptError } } : {}),
    credentials,
  }
}
