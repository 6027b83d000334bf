import { isJsonObject, type JsonObject } from '../../platform/json.ts'
import { asArray, FormatError, parseCredential, type SubmittedCredential } from './credential-text.ts'
import {
  fetchSigningKey,
  findSigningKey,
  IssuerError,
  type IssuerSources,
  issuerDomain,
  resolveIssuer,
} from './issuers.ts'
import { findStructureError, isOpenBadge, issuerId } from './schema.ts'
import { SignatureError, signingKeyId, verifySignature } from './signature.ts'
import { checkStatus } from './status.ts'

/** The steps in the order in which they are checked. */
const checkSteps = ['format', 'schema', 'issuer', 'key', 'signature', 'validity', 'status'] as const
type CheckStep = (typeof checkSteps)[number]

/** Results of a check. `unknown` means that a server of the issuer could not be reached or the status could not be determined. */
export type CheckVerdict = 'valid' | 'invalid' | 'revoked' | 'expired' | 'not_yet_valid' | 'unknown'

interface StepResult {
  name: CheckStep
  status: 'passed' | 'failed' | 'skipped'
  message: string
}

/** The main statements of a credential, for display. They are only as trustworthy as the verdict. */
interface CredentialSummary {
  format: 'json' | 'jwt'
  id: string | null
  type: string[]
  name: string | null
  issuer_id: string | null
  /** The domain that publishes the issuer's keys. Null for other issuers, such as did:key, whose identity is not proven. */
  issuer_domain: string | null
  /** The name that the issuer gives itself; nobody has checked it. */
  issuer_name: string | null
  achievement: { id: string | null; name: string | null; description: string | null } | null
  /** The name of the person, if the credential states it. */
  subject_name: string | null
  valid_from: string | null
  valid_until: string | null
}

export interface CheckResult {
  verdict: CheckVerdict
  /** Whether an issuer of this server signed the credential. */
  is_local: boolean
  /** Whether it is a TEST credential of this server, which says nothing about a real person. */
  test: boolean
  steps: StepResult[]
  /** Null if the input is not a credential. */
  credential: CredentialSummary | null
}

export interface CheckOptions extends IssuerSources {
  now: Date
}

/** Clocks of issuers may be ahead by this much. */
const MAX_CLOCK_SKEW_MS = 5 * 60 * 1000

/** A step failed. Without a verdict of its own, the credential is invalid. */
class StepFailure extends Error {
  readonly verdict: CheckVerdict

  constructor(message: string, verdict: CheckVerdict = 'invalid') {
    super(message)
    this.verdict = verdict
  }
}

/**
 * Checks a credential of any issuer: an object, JSON text, or a VC-JWT. Stops at the first step that fails, except that the status is
 * checked for expired credentials too.
 */
export async function checkCredential(input: string | JsonObject, options: CheckOptions): Promise<CheckResult> {
  const run = new CheckRun()
  const credential = await run.step('format', () => {
    const parsed = parseCredential(input)
    return {
      value: parsed,
      message: parsed.jwt ? 'The credential is a VC-JWT.' : 'The credential is JSON with a proof.',
    }
  })
  if (!credential) return run.finish(null)
  const summary = summarise(credential)
  const isAuthentic = await checkAuthenticity(run, credential, options)
  if (!isAuthentic) return run.finish(summary)
  const { document } = credential
  const localMode = options.local?.modeOf(issuerId(document)!)
  await run.step('validity', () => ({ value: true, message: checkValidity(credential, options.now) }))
  await run.step('status', async () => {
    const { status, message } = await checkStatus(document, options, options.now)
    if (status === 'revoked') throw new StepFailure(message, 'revoked')
    if (status === 'unknown') throw new StepFailure(message, 'unknown')
    return { value: true, message }
  })
  return run.finish(summary, localMode)
}

/** Checks that the issuer signed the credential; returns whether it did. */
async function checkAuthenticity(run: CheckRun, credential: SubmittedCredential, options: CheckOptions) {
  const { document } = credential
  const { now } = options
  const hasStructure = await run.step('schema', () => {
    const error = findStructureError(document) ?? findClaimMismatch(credential)
    if (error) throw new StepFailure(error)
    return { value: true, message: describeKind(document) }
  })
  if (!hasStructure) return false
  const id = issuerId(document)!
  const issuer = await run.step('issuer', async () => ({
    value: await resolveIssuer(id, options),
    message: `The document of the issuer ${id} was found.`,
  }))
  if (!issuer) return false
  const key = await run.step('key', async () => {
    const keyUrl = hostedKeyUrl(credential, id)
    if (keyUrl !== undefined)
      return { value: await fetchSigningKey(issuer, keyUrl, options), message: `The issuer lists the key ${keyUrl}.` }
    const keyId = signingKeyId(credential)
    if (keyId.split('#')[0] !== id)
      throw new StepFailure(
        `The credential names ${id} as its issuer, but was signed with a key of ${keyId.split('#')[0]}.`,
      )
    return { value: findSigningKey(issuer, keyId, now), message: `The issuer lists the key ${keyId}.` }
  })
  if (!key) return false
  return run.step('signature', async () => {
    await verifySignature(credential, key, now)
    return { value: true, message: 'The issuer signed the credential, and it has not been changed since.' }
  })
}

/** Returns the address of the key of a VC-JWT, if it is not in the document of the issuer. */
function hostedKeyUrl({ jwt }: SubmittedCredential, issuer: string): string | undefined {
  const kid = jwt?.header.kid
  const isHosted =
    typeof kid === 'string' && kid.startsWith('https://') && URL.canParse(kid) && kid.split('#')[0] !== issuer
  return isHosted ? kid : undefined
}

function describeKind(document: JsonObject): string {
  if (isOpenBadge(document)) return 'The credential has the structure of an Open Badge 3.0.'
  const { credentialSubject } = document
  if (!asArray(document.type).includes('ClrCredential') || !isJsonObject(credentialSubject))
    return 'The credential has the structure of a verifiable credential; it is not an Open Badge.'
  const count = asArray(credentialSubject.verifiableCredential).length
  return `This is a Comprehensive Learner Record with ${count} credentials; check each of them too.`
}

/** Returns which registered claim of a VC-JWT contradicts the credential; undefined if none does. */
function findClaimMismatch({ document, jwt }: SubmittedCredential): string | undefined {
  const { iss, jti } = jwt?.claims ?? {}
  if (iss !== undefined && iss !== issuerId(document))
    return 'The claim `iss` of the VC-JWT is not the issuer of the credential.'
  if (jti !== undefined && document.id !== undefined && jti !== document.id)
    return 'The claim `jti` of the VC-JWT is not the ID of the credential.'
  return undefined
}

function checkValidity(credential: SubmittedCredential, now: Date): string {
  const { from, until } = validityPeriod(credential)
  if (until !== undefined && until <= now.getTime())
    throw new StepFailure(`The credential expired at ${new Date(until).toISOString()}.`, 'expired')
  if (from !== undefined && from > now.getTime() + MAX_CLOCK_SKEW_MS)
    throw new StepFailure(`The credential is valid only from ${new Date(from).toISOString()}.`, 'not_yet_valid')
  return until === undefined
    ? 'The credential does not expire.'
    : `The credential is valid until ${new Date(until).toISOString()}.`
}

/** Returns the latest start and the earliest end that the credential and the claims of its token state, in epoch milliseconds. */
function validityPeriod({ document, jwt }: SubmittedCredential) {
  const starts = [document.validFrom, document.issuanceDate, jwt?.claims.nbf]
    .map(epochMs)
    .filter((time) => time !== undefined)
  const ends = [document.validUntil, document.expirationDate, jwt?.claims.exp]
    .map(epochMs)
    .filter((time) => time !== undefined)
  return {
    from: starts.length === 0 ? undefined : Math.max(...starts),
    until: ends.length === 0 ? undefined : Math.min(...ends),
  }
}

/** Converts a date and time or the seconds of a claim. Times that a Date cannot represent are ignored. */
function epochMs(time: unknown): number | undefined {
  const milliseconds = typeof time === 'number' ? time * 1000 : typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isNaN(new Date(milliseconds).getTime()) ? undefined : milliseconds
}

function summarise({ document, jwt }: SubmittedCredential): CredentialSummary {
  const issuer = isJsonObject(document.issuer) ? document.issuer : {}
  const [firstSubject] = asArray(document.credentialSubject)
  const subject = isJsonObject(firstSubject) ? firstSubject : {}
  const achievement = isJsonObject(subject.achievement) ? subject.achievement : undefined
  const nameIdentifier = asArray(subject.identifier)
    .filter(isJsonObject)
    .find(({ identityType, hashed }) => identityType === 'name' && hashed === false)
  return {
    format: jwt ? 'jwt' : 'json',
    id: textOrNull(document.id),
    type: asArray(document.type).filter((type) => typeof type === 'string'),
    name: textOrNull(document.name) ?? textOrNull(achievement?.name),
    issuer_id: issuerId(document) ?? null,
    issuer_domain: issuerDomain(issuerId(document) ?? '') ?? null,
    issuer_name: textOrNull(issuer.name),
    achievement: achievement
      ? {
          id: textOrNull(achievement.id),
          name: textOrNull(achievement.name),
          description: textOrNull(achievement.description),
        }
      : null,
    subject_name: textOrNull(nameIdentifier?.identityHash),
    valid_from: textOrNull(document.validFrom ?? document.issuanceDate),
    valid_until: textOrNull(document.validUntil ?? document.expirationDate),
  }
}

/** Returns a text, or the first value of a text with languages. */
function textOrNull(value: unknown): string | null {
  if (typeof value === 'string') return value
  const [first] = asArray(value)
  return isJsonObject(first) && typeof first['@value'] === 'string' ? first['@value'] : null
}

/** Collects the results of the steps. */
class CheckRun {
  #steps: StepResult[] = []
  #verdicts = new Set<CheckVerdict>()

  /** Runs a step and records its result; returns its value, or undefined if it failed. */
  async step<T>(name: CheckStep, check: () => Promise<StepOutcome<T>> | StepOutcome<T>): Promise<T | undefined> {
    try {
      const { value, message } = await check()
      this.#steps.push({ name, status: 'passed', message })
      return value
    } catch (error) {
      const verdict = verdictOf(error)
      if (!verdict) throw error
      this.#steps.push({ name, status: 'failed', message: (error as Error).message })
      this.#verdicts.add(verdict)
      return undefined
    }
  }

  /** The mode is that of an issuer of this server who signed the credential. */
  finish(credential: CredentialSummary | null, localMode?: 'live' | 'test'): CheckResult {
    const checked = new Set(this.#steps.map(({ name }) => name))
    for (const name of checkSteps)
      if (!checked.has(name))
        this.#steps.push({ name, status: 'skipped', message: 'Not checked, because an earlier step failed.' })
    const verdict = VERDICTS_BY_WEIGHT.find((candidate) => this.#verdicts.has(candidate)) ?? 'valid'
    return {
      verdict,
      is_local: localMode !== undefined,
      test: localMode === 'test',
      steps: this.#steps,
      credential,
    }
  }
}

interface StepOutcome<T> {
  value: T
  message: string
}

/** If several steps fail, the first of these is the verdict. */
const VERDICTS_BY_WEIGHT: CheckVerdict[] = ['invalid', 'revoked', 'expired', 'not_yet_valid', 'unknown']

/** Returns the verdict of an expected error; undefined for any other error. */
function verdictOf(error: unknown): CheckVerdict | undefined {
  if (error instanceof StepFailure) return error.verdict
  if (error instanceof IssuerError) return error.temporary ? 'unknown' : 'invalid'
  return error instanceof FormatError || error instanceof SignatureError ? 'invalid' : undefined
}
