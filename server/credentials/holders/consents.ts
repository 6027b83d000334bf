import { sql } from 'kysely'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { CandidateChange } from '../../campaigns/progress.ts'
import type { Context } from '../../context.ts'
import type { EmailDeps } from '../../mail/mail.ts'
import { type Clock, realClock } from '../../platform/clock.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../../platform/database/database.ts'
import { linkErrors } from '../../platform/text/links.ts'
import { type CredentialRow, type CredentialStatus, credentialColumns, credentialStatusAt } from '../credentials.ts'
import type { SourceKind } from '../facts.ts'
import { findIssuableSkills, type IssueDeps, issueCredentials, reissueCredentials } from '../issue.ts'
import { getCredentialPolicy } from '../policies.ts'
import { revokeCredentials } from '../revocation.ts'
import type { CredentialSource } from '../sources.ts'
import { createHolderLink, ensureHolder, findHolderOf, lockHolder, profileUrl } from './holders.ts'
import { emailManageLink } from './manage-link-email.ts'

/** Notification that credentials are to be issued, because a session or a candidacy with consent has ended. */
export const CREDENTIALS_DUE = 'credentials_due'

/** The version of the text that people agree to. Increase it when the meaning of the text changes. */
const CONSENT_TEXT_VERSION = 1

type ConsentDeps = IssueDeps & Pick<Context, 'mailboxes'>

/** The decision of a person about credentials. */
export interface Consent {
  holder_id: string
  wanted: boolean
  show_name: boolean
  language: string
}

/** The credentials of a session or a candidacy, for its page. */
export interface CredentialOffer {
  isEnabled: boolean
  consent: Consent | undefined
  hasEnded: boolean
  /** Skills for which a credential can be issued, or was issued. */
  eligible: { number: number; name: string }[]
  /** Skills that are not decided yet. */
  pending: { number: number; name: string }[]
  credentials: { id: string; url: string; skill: { number: number; name: string }; status: CredentialStatus }[]
  profileUrl: string | null
  /** Only in the response to a consent, because the token is stored as a hash. */
  manageUrl: string | null
}

export interface ConsentInput {
  wanted: boolean
  showName: boolean
  language: string
  /** For an embedded page, which must not learn the link for managing the credentials, because the link works for longer. */
  hidesLink?: boolean
}

export async function readOffer(
  queries: Queries,
  { clock, config, mailboxes }: ConsentDeps,
  source: CredentialSource,
  manageUrl: string | null = null,
): Promise<CredentialOffer> {
  const policy = await getCredentialPolicy(queries, source.scope.orgId)
  const consent = await findConsent(queries, source.kind, source.id)
  const { contact, externalId } = source
  const holder = contact && (await findHolderOf(queries, { mailboxes }, source.scope, { contact, externalId }))
  const { rows } = await sql<CredentialRow>`
    select ${credentialColumns} from credentials
    where source_kind = ${source.kind} and source_id = ${source.id} and revocation_reason is distinct from 'replaced'
    order by issued_at, revoked_at nulls last, skill_number`.execute(queries)
  const issuableSkills = await findIssuableSkills(queries, { clock }, source, policy.credential_validity_months)
  const issuable = new Set(issuableSkills.map(({ number }) => number))
  return {
    isEnabled: policy.credentials_enabled && source.contact !== undefined,
    consent,
    hasEnded: source.hasEnded,
    eligible: source.skills
      .filter(({ number }) => issuable.has(number) || rows.some(({ skill_number }) => skill_number === number))
      .map(({ number, name }) => ({ number, name })),
    pending: source.pendingSkills,
    credentials: rows.map((row) => ({
      id: row.credential_id,
      url: row.url,
      skill: { number: row.skill_number, name: row.skill_name },
      status: credentialStatusAt(row, clock.now()),
    })),
    profileUrl: holder ? profileUrl(config, holder) : null,
    manageUrl,
  }
}

/**
 * Stores what a person decided. With consent, and if the session or candidacy has ended, the credentials are issued in the same
 * transaction; otherwise when it ends. Without, the credentials are revoked and their content is deleted.
 */
export async function decideCredentials(
  tx: Tx,
  deps: ConsentDeps & EmailDeps,
  source: CredentialSource,
  input: ConsentInput,
): Promise<CredentialOffer> {
  if (!input.wanted) {
    await withdrawConsent(tx, deps, source)
    return readOffer(tx, deps, source)
  }
  const { credentials_enabled } = await getCredentialPolicy(tx, source.scope.orgId)
  const { contact, externalId } = source
  if (!credentials_enabled || contact === undefined)
    throw problem('FORBIDDEN', 'This organisation does not issue credentials. Ask it to switch them on.')
  if (input.showName) requirePlainName(source.name)
  const holder = await ensureHolder(tx, deps, source.scope, { contact, externalId })
  const previousConsent = await findConsent(tx, source.kind, source.id)
  const now = new Date(deps.clock.now())
  await sql`insert into credential_consents
      (source_kind, source_id, org_id, mode, holder_id, wanted, show_name, language, text_version, given_at)
    values (${source.kind}, ${source.id}, ${source.scope.orgId}, ${source.scope.mode}, ${holder.holder_id}, true, ${input.showName},
      ${input.language}, ${CONSENT_TEXT_VERSION}, ${now})
    on conflict (source_kind, source_id) do update set holder_id = excluded.holder_id, wanted = true, show_name = excluded.show_name,
      language = excluded.language, text_version = excluded.text_version, given_at = excluded.given_at, withdrawn_at = null`.execute(
    tx,
  )
  await reissueCredentials(tx, deps, source, input.showName)
  if (source.hasEnded)
    await issueCredentials(
      tx,
      deps,
      source,
      { holderId: holder.holder_id, showName: input.showName, language: input.language },
      { isLimited: true },
    )
  // Not again when the person only changes whether the name is shown.
  const sendsEmail = contact.kind === 'email' && !previousConsent?.wanted
  if (!sendsEmail && input.hidesLink) return readOffer(tx, deps, source)
  const url = await createHolderLink(tx, deps.clock, deps.config, holder)
  if (sendsEmail)
    await emailManageLink(tx, deps, {
      scope: source.scope,
      person: { personId: source.personId, key: source.personKey },
      address: contact.value,
      url,
      language: input.language,
    })
  return readOffer(tx, deps, source, input.hidesLink ? null : url)
}

/** Rejects a name that is a link in disguise, although it was accepted before links in names were rejected. */
export function requirePlainName(name: string): void {
  const details = name === '' ? [{ path: 'name', message: 'has no visible characters' }] : linkErrors([['name', name]])
  if (details.length > 0) throw invalid(details)
}

async function withdrawConsent(tx: Tx, deps: ConsentDeps, { kind, id }: CredentialSource): Promise<void> {
  const consent = await findConsent(tx, kind, id)
  // Locked, so that credentials that the holder's page issues again at the same time are revoked, too.
  if (consent) await lockHolder(tx, consent.holder_id)
  await sql`update credential_consents set wanted = false, show_name = false, withdrawn_at = ${new Date(deps.clock.now())},
    issue_due_at = null where source_kind = ${kind} and source_id = ${id} and wanted`.execute(tx)
  await revokeCredentials(tx, deps, sql`source_kind = ${kind} and source_id = ${id}`, 'consent_withdrawn')
}

export async function findConsent(queries: Queries, kind: SourceKind, id: string): Promise<Consent | undefined> {
  const { rows } = await sql<Consent>`
    select holder_id, wanted, show_name, language from credential_consents
    where source_kind = ${kind} and source_id = ${id}`.execute(queries)
  return rows[0]
}

/** Schedules the issue of credentials when a verification ends, if the student wants them. */
export async function scheduleIssueForSession(tx: Tx, verificationId: string, clock: Clock): Promise<void> {
  await scheduleIssue(tx, clock, 'session', [verificationId])
}

/** Schedules the issue of credentials for the candidates who completed the conversation and want them. */
export async function scheduleIssueForCandidates(tx: Tx, changes: CandidateChange[], clock: Clock): Promise<void> {
  const completedIds = changes.filter(({ ended }) => ended === 'completed').map(({ candidateId }) => candidateId)
  if (completedIds.length > 0) await scheduleIssue(tx, clock, 'candidate', completedIds)
}

/** Sets the due time in the transaction of the change, so that the issue is not lost if the process is killed. */
async function scheduleIssue(tx: Tx, clock: Clock, kind: SourceKind, sourceIds: string[]): Promise<void> {
  // Credentials are issued in real time, also those of a session or candidacy with a test clock.
  const { rows } = await sql`update credential_consents set issue_due_at = ${new Date(realClock(clock).now())}
    where source_kind = ${kind} and source_id = any (${sourceIds}::text[]) and wanted returning source_id`.execute(tx)
  if (rows.length > 0) notifyAfterCommit(tx, CREDENTIALS_DUE)
}

/** Revokes the credentials of a verification whose endorsement was withdrawn, and cancels those that are due. */
export async function revokeWithdrawn(tx: Tx, verificationId: string, clock: Clock): Promise<void> {
  const consent = await findConsent(tx, 'session', verificationId)
  if (!consent) return
  // Locked, so that credentials that are issued at the same time are revoked, too.
  await lockHolder(tx, consent.holder_id)
  await sql`update credential_consents set issue_due_at = null
    where source_kind = 'session' and source_id = ${verificationId}`.execute(tx)
  await revokeCredentials(
    tx,
    { clock },
    sql`source_kind = 'session' and source_id = ${verificationId}`,
    'endorsement_withdrawn',
  )
}

/** Cancels the issue of the credentials of a session or a candidacy. The person can still ask for them. */
export async function cancelIssue(tx: Tx, sourceId: string): Promise<void> {
  await sql`update credential_consents set issue_due_at = null where source_id = ${sourceId}`.execute(tx)
}
