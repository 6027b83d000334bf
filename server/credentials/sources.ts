import type { OrgScope } from '../access/caller.ts'
import { type Candidacy, findCandidacy } from '../campaigns/candidacy.ts'
import { skillNumber } from '../catalogue/ids.ts'
import { itemById } from '../conversation/skill-form.ts'
import { verdictsOf } from '../conversation/verdicts.ts'
import { KEY } from '../measurement/form.ts'
import type { PersonKey } from '../people/identity/person-key.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries } from '../platform/database/database.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import { findPassedResponses, readAssessment } from '../verification/assessments/attempts.ts'
import { findEvidence } from '../verification/endorsements/endorsements.ts'
import { mainSourceOf } from '../verification/items.ts'
import { skillOutcomes, statusAt } from '../verification/outcome.ts'
import { findReview } from '../verification/reviews/reviews.ts'
import { findVerification, type Session } from '../verification/sessions.ts'
import type { Contact } from './build-credential.ts'
import type { Facts, ScoredResponse, SourceKind, VerifiedSkill } from './facts.ts'

/** A session or a candidacy, as far as credentials need it. */
export interface CredentialSource {
  kind: SourceKind
  id: string
  scope: OrgScope
  externalId: string
  personId: string
  personKey: PersonKey
  name: string
  contact: Contact | undefined
  /** Whether it has ended: then the verified skills are final. */
  hasEnded: boolean
  /** Verified skills, once it has ended. */
  skills: VerifiedSkill[]
  /** Skills without an outcome yet. */
  pendingSkills: { number: number; name: string }[]
}

export async function findSource(
  queries: Queries,
  kind: SourceKind,
  id: string,
  clock: Clock,
): Promise<CredentialSource | undefined> {
  if (kind === 'session') {
    const session = await findVerification(queries, clock, id)
    return session && sessionSource(queries, session)
  }
  const candidacy = await findCandidacy(queries, id)
  return candidacy && candidateSource(candidacy)
}

/** Reads what a session has verified. A session whose attempts are used up has verified the skills that were passed before. */
export async function sessionSource(queries: Queries, session: Session): Promise<CredentialSource> {
  const now = session.clock.now()
  const review = await findReview(queries, session.id)
  const assessment = await readAssessment(queries, session, now)
  const status = statusAt(session, now, review, assessment)
  const hasEnded = status === 'completed' || status === 'failed'
  const outcomes = skillOutcomes(session, status, session.method === 'human' ? review : undefined, assessment)
  const evidence = await findEvidence(queries, session, review)
  const passed = hasEnded ? await findPassedResponses(queries, session) : new Map()
  const mainSource = mainSourceOf(session.items, session.sources)
  const source = mainSource ? { type: mainSource.type, title: mainSource.title } : null
  const skills = outcomes.flatMap(({ skillId, name, outcome }): VerifiedSkill[] => {
    const number = skillNumber(skillId)!
    if (outcome === 'endorsed') {
      const facts: Facts = {
        method: 'endorsement',
        verifiedAt: new Date(session.completedAt!).toISOString(),
        language: null,
        correct: null,
        asked: null,
        confidence: null,
        itemSource: null,
        evidenceLevel: evidence?.evidenceLevel ?? null,
        relation: session.endorsementType,
        source,
      }
      return [{ number, name, facts, responses: [] }]
    }
    const answers = passed.get(number)
    if (outcome !== 'passed' || !answers) return []
    const facts: Facts = {
      method: 'assessment',
      verifiedAt: answers.submittedAt.toISOString(),
      language: answers.language ?? null,
      ...countResponses(answers.responses),
      confidence: answers.confidence,
      itemSource: answers.source ?? null,
      evidenceLevel: null,
      relation: null,
      source,
    }
    return [{ number, name, facts, responses: answers.responses }]
  })
  return {
    kind: 'session',
    id: session.id,
    scope: session.scope,
    externalId: session.student.externalStudentId,
    personId: session.personId,
    personKey: session.personKey,
    name: toSingleLine(session.student.name),
    contact: { kind: 'email', value: session.student.email },
    hasEnded,
    skills: hasEnded ? skills : [],
    pendingSkills:
      hasEnded || status === 'declined' || status === 'expired'
        ? []
        : session.skills.map(({ number, name }) => ({ number, name })),
  }
}

/** Reads what a candidacy has verified. Forms of earlier versions had no measurement, so they verify nothing. */
export function candidateSource(candidacy: Candidacy): CredentialSource {
  const { candidate_id, org_id: orgId, mode, state, flow, status, email, phone } = candidacy
  const hasEnded = status === 'completed'
  const verdicts = flow.methods.includes('skill_verification') ? verdictsOf(state, flow) : []
  const skills = verdicts.flatMap(({ skill_id, name, verdict, confidence, evidence }, index): VerifiedSkill[] => {
    if (verdict !== 'verified' || confidence === null || evidence === null) return []
    const responses = scoredResponsesOf(candidacy, index)
    const facts: Facts = {
      method: 'campaign',
      verifiedAt: candidacy.completed_at!.toISOString(),
      language: evidence.language,
      ...countResponses(responses),
      confidence,
      itemSource: evidence.item_source,
      evidenceLevel: null,
      relation: null,
      source: null,
    }
    return [{ number: skillNumber(skill_id)!, name, facts, responses }]
  })
  return {
    kind: 'candidate',
    id: candidate_id,
    scope: { orgId, mode },
    externalId: candidacy.external_candidate_id,
    personId: candidacy.person_id,
    personKey: candidacy.person_key,
    name: toSingleLine(candidacy.name),
    contact: email ? { kind: 'email', value: email } : phone ? { kind: 'phone', value: phone } : undefined,
    hasEnded,
    skills: hasEnded ? skills : [],
    pendingSkills:
      status === 'pending' ? verdicts.map(({ skill_id, name }) => ({ number: skillNumber(skill_id)!, name })) : [],
  }
}

function scoredResponsesOf({ state, flow }: Candidacy, skill: number): ScoredResponse[] {
  return (state.skills[skill] ?? []).flatMap(({ id, options, choice, pilot }) => {
    if (choice === undefined || pilot) return []
    const { difficulty, isUnpiloted = false } = itemById(flow, skill, id)
    return [{ id, difficulty, isUnpiloted, isCorrect: options[choice] === KEY }]
  })
}

function countResponses(responses: ScoredResponse[]) {
  return {
    correct: responses.filter(({ isCorrect }) => isCorrect).length,
    asked: responses.length,
    unpilotedItems: responses.filter(({ isUnpiloted }) => isUnpiloted).length,
  }
}
