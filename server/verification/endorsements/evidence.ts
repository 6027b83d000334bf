/** How well an endorsement supports the skills, derived from the facts about it. Nothing is rejected because of its level. */

export const evidenceLevels = ['strong', 'moderate', 'weak'] as const
type EvidenceLevel = (typeof evidenceLevels)[number]

export const evidenceCodes = [
  'company_domain',
  'other_domain',
  'no_website',
  'free_mail',
  'disposable_mail',
  'saw_the_work',
  'peer_relation',
  'quick_answer',
  'mutual',
  'many_endorsements',
  'same_network',
  'same_device',
  'reviewer_is_student',
  'ring',
] as const
export type EvidenceCode = (typeof evidenceCodes)[number]

export const evidenceEffects = ['supports', 'neutral', 'weakens'] as const

interface EvidenceReason {
  code: EvidenceCode
  effect: (typeof evidenceEffects)[number]
  text: string
}

export interface Evidence {
  evidenceLevel: EvidenceLevel
  reasons: EvidenceReason[]
}

/** Points of a fact that makes the evidence weak, whatever else is known. */
const DECISIVE = -100
const MIN_STRONG_POINTS = 3
const MIN_MODERATE_POINTS = 0

/** The points and the text of each fact. The table in docs/reference/endorsement-evidence.md has the same rows. */
export const EVIDENCE_TABLE: Record<EvidenceCode, { points: number; text: string }> = {
  company_domain: { points: 2, text: "The reviewer's email address belongs to the domain of the company's website." },
  other_domain: {
    points: -1,
    text: "The reviewer's email address does not belong to the domain of the company's website.",
  },
  no_website: { points: 0, text: 'No company website was given to compare the email address with.' },
  free_mail: { points: -1, text: 'The reviewer uses a mail service where anyone can open a mailbox.' },
  disposable_mail: { points: DECISIVE, text: 'The reviewer uses a disposable mailbox or an anonymous alias.' },
  saw_the_work: { points: 1, text: 'The reviewer is a manager, mentor, client or teacher of the student.' },
  peer_relation: { points: 0, text: 'The reviewer is a colleague of the student.' },
  quick_answer: { points: -1, text: 'The reviewer answered within two minutes of the email.' },
  mutual: { points: -2, text: 'The student has endorsed the reviewer too.' },
  many_endorsements: { points: -1, text: 'This mailbox has endorsed unusually many students in 90 days.' },
  same_network: { points: -1, text: 'The reviewer answered from a network that the student used.' },
  same_device: { points: -2, text: 'The reviewer answered from a device that looks like one of the student.' },
  reviewer_is_student: {
    points: DECISIVE,
    text: "The student has used the reviewer's mailbox or phone number as their own.",
  },
  ring: { points: DECISIVE, text: 'Reviewer and student belong to a group of people who endorse each other.' },
}

/** Derives the level and its reasons from the facts, in the order of the table. */
export function deriveEvidence(facts: Iterable<EvidenceCode>): Evidence {
  const knownFacts = new Set(facts)
  const codes = evidenceCodes.filter((code) => knownFacts.has(code))
  const points = codes.reduce((sum, code) => sum + EVIDENCE_TABLE[code].points, 0)
  return {
    evidenceLevel: points >= MIN_STRONG_POINTS ? 'strong' : points >= MIN_MODERATE_POINTS ? 'moderate' : 'weak',
    reasons: codes.map((code) => ({ code, effect: effectOf(code), text: EVIDENCE_TABLE[code].text })),
  }
}

function effectOf(code: EvidenceCode): EvidenceReason['effect'] {
  const { points } = EVIDENCE_TABLE[code]
  return points > 0 ? 'supports' : points < 0 ? 'weakens' : 'neutral'
}
