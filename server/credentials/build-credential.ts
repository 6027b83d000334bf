import { createHash } from 'node:crypto'
import { skillId } from '../catalogue/ids.ts'
import type { JsonObject } from '../platform/json.ts'
import { languageName } from '../platform/text/languages.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import type { Facts } from './facts.ts'
import { CREDENTIALS_CONTEXT, OPEN_BADGES_CONTEXT } from './proof/contexts.ts'

/** The address that a credential is bound to. */
export interface Contact {
  kind: 'email' | 'phone'
  value: string
}

interface CredentialInput {
  /** URL of the credential. */
  id: string
  /** The public URL of the server, without a slash at its end. */
  baseUrl: string
  issuer: { did: string; name: string; isTest: boolean }
  skill: { number: number; name: string; description: string | undefined; escoUris: string[] }
  facts: Facts
  contact: Contact
  salt: string
  /** The name of the person; undefined unless the person wants it to be shown. */
  shownName: string | undefined
  status: { listUrl: string; index: number }
  validFrom: Date
  validUntil: Date
}

/** Returns the hash of an address with a salt, as Open Badges 3.0 defines it. */
export function hashIdentity({ value }: Contact, salt: string): string {
  return `sha256$${createHash('sha256')
    .update(value.toLowerCase() + salt)
    .digest('hex')}`
}

/** Returns an unsigned Open Badges 3.0 credential about one skill. All terms are defined by its two contexts. */
export function buildCredential(input: CredentialInput): JsonObject {
  const { id, baseUrl, issuer, skill, facts, status } = input
  const measured = results(`${id}#`, facts)
  return {
    '@context': [CREDENTIALS_CONTEXT, OPEN_BADGES_CONTEXT],
    id,
    type: ['VerifiableCredential', 'OpenBadgeCredential'],
    name: skill.name,
    ...(issuer.isTest
      ? { description: 'This is a TEST credential. It was issued to try out the system and proves nothing.' }
      : {}),
    issuer: {
      id: issuer.did,
      type: ['Profile'],
      name: issuer.isTest ? `${issuer.name} (TEST)` : issuer.name,
      url: baseUrl,
    },
    validFrom: formatTime(input.validFrom),
    validUntil: formatTime(input.validUntil),
    credentialStatus: {
      id: `${status.listUrl}#${status.index}`,
      type: 'BitstringStatusListEntry',
      statusPurpose: 'revocation',
      statusListIndex: String(status.index),
      statusListCredential: status.listUrl,
    },
    credentialSubject: {
      type: ['AchievementSubject'],
      identifier: identifiers(input),
      achievement: {
        id: `${baseUrl}/api/skills/${skillId(skill.number)}`,
        type: ['Achievement'],
        achievementType: 'Competency',
        name: skill.name,
        description: skill.description || `The skill ${skill.name}.`,
        criteria: { narrative: CRITERIA[facts.method] },
        alignment: alignments(input),
        ...(measured.length > 0 ? { resultDescription: measured.map(({ description }) => description) } : {}),
      },
      ...(measured.length > 0 ? { result: measured.map(({ result }) => result) } : {}),
    },
    evidence: [
      {
        type: ['Evidence'],
        name: EVIDENCE_NAMES[facts.method],
        genre: facts.method,
        narrative: describeEvidence(facts, skill.name, issuer.isTest),
      },
    ],
  }
}

/** Returns a time without milliseconds: equal milliseconds would connect credentials that were issued to a person together. */
function formatTime(time: Date): string {
  return time.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/**
 * Returns how the subject is identified. The salt of a phone number stays on the server: there are so few phone numbers that all of
 * them can be tried against a salted hash.
 */
function identifiers({ contact, salt, shownName }: CredentialInput): JsonObject[] {
  const hashed = {
    type: 'IdentityObject',
    hashed: true,
    identityHash: hashIdentity(contact, salt),
    ...(contact.kind === 'email' ? { identityType: 'emailAddress', salt } : { identityType: 'ext:phoneNumber' }),
  }
  if (shownName === undefined) return [hashed]
  return [hashed, { type: 'IdentityObject', hashed: false, identityHash: shownName, identityType: 'name' }]
}

function alignments({ skill, baseUrl }: CredentialInput): JsonObject[] {
  return [
    {
      type: ['Alignment'],
      targetName: skill.name,
      targetUrl: `${baseUrl}/api/skills/${skillId(skill.number)}`,
      targetFramework: 'Attestry skill catalogue',
      targetCode: skillId(skill.number),
    },
    ...skill.escoUris.map((uri) => ({
      type: ['Alignment'],
      targetName: skill.name,
      targetUrl: uri,
      targetFramework: 'ESCO',
      targetCode: uri,
    })),
  ]
}

const CRITERIA: Record<Facts['method'], string> = {
  assessment:
    'The person answered multiple-choice questions about the skill, chosen for them, within a time limit. The skill is verified if the answers show it with a certainty of at least 95 %.',
  endorsement:
    'A reviewer who knows the work of the person received a link by email and confirmed that the person has the skill.',
  campaign:
    'The person answered multiple-choice questions about the skill, chosen for them, in a conversation with an employer. The skill is verified if the answers show it with a certainty of at least 95 %.',
}

const EVIDENCE_NAMES: Record<Facts['method'], string> = {
  assessment: 'Assessment',
  endorsement: 'Endorsement',
  campaign: 'Assessment in a campaign',
}

/** Returns the measured values, each with its description. */
function results(idPrefix: string, { confidence, correct, asked, evidenceLevel }: Facts) {
  const entries: { description: JsonObject; result: JsonObject }[] = []
  function add(key: string, description: JsonObject, value: string) {
    const id = `${idPrefix}${key}`
    entries.push({
      description: { id, type: ['ResultDescription'], ...description },
      result: { type: ['Result'], resultDescription: id, value },
    })
  }
  if (confidence !== null)
    add(
      'confidence',
      { name: 'Certainty of the verdict', resultType: 'Percent', valueMin: '0', valueMax: '100' },
      formatPercent(confidence),
    )
  if (correct !== null && asked !== null)
    add(
      'items-correct',
      { name: 'Questions answered correctly', resultType: 'RawScore', valueMin: '0', valueMax: String(asked) },
      String(correct),
    )
  if (evidenceLevel !== null)
    add(
      'evidence-level',
      { name: 'Evidence level', resultType: 'Result', allowedValue: ['weak', 'moderate', 'strong'] },
      evidenceLevel,
    )
  return entries
}

function formatPercent(share: number): string {
  return String(Math.round(share * 1000) / 10)
}

const SOURCE_NAMES = { project: 'project', experience: 'work experience', certificate: 'certificate' } as const

const RELATIONS: Record<string, string> = {
  manager: 'a manager',
  mentor: 'a mentor',
  client: 'a client',
  faculty: 'a teacher',
  peer: 'a colleague',
}

/** Returns how the skill was verified, in plain sentences. */
function describeEvidence(facts: Facts, skillName: string, isTest = false): string {
  const date = facts.verifiedAt.slice(0, 10)
  const source = facts.source && `${SOURCE_NAMES[facts.source.type]} “${toSingleLine(facts.source.title)}”`
  const sentences: string[] = isTest ? ['TEST credential.'] : []
  if (facts.method === 'endorsement') {
    sentences.push(
      `${capitalise(RELATIONS[facts.relation ?? ''] ?? 'a person')} who knows the person's work endorsed the skill ${skillName} on ${date}${source ? `, for the ${source}` : ''}.`,
    )
    if (facts.evidenceLevel !== null) sentences.push(`The evidence level of the endorsement is ${facts.evidenceLevel}.`)
  } else {
    const place = facts.method === 'campaign' ? "in an employer's campaign" : 'in an assessment'
    const language = facts.language === null ? '' : ` in ${languageName(facts.language)}`
    sentences.push(
      `Answered ${facts.correct} of ${facts.asked} questions about ${skillName} correctly ${place}${language} on ${date}${source ? `, after naming the ${source}` : ''}.`,
    )
    if (facts.unpilotedItems)
      sentences.push(
        `${facts.unpilotedItems === facts.asked ? 'The' : `${facts.unpilotedItems} of the`} questions were still being tried out, so their answers weigh less.`,
      )
    if (facts.confidence !== null)
      sentences.push(
        `The verdict is ${formatPercent(facts.confidence)} % certain. This assumes that, before the questions, the person was as likely to have the skill as to lack it.`,
      )
  }
  return sentences.join(' ')
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
