import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { getOrganisation } from '../access/organisations.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { recordEvents } from '../events/record.ts'
import { DAY, formatWait, SECOND } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { randomCode, randomToken } from '../platform/ids.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import { buildCredential, type Contact } from './build-credential.ts'
import { type CredentialRow, credentialColumns, credentialRecord, credentialUrl } from './credentials.ts'
import type { Facts, ScoredResponse, VerifiedSkill } from './facts.ts'
import { baseUrl, openSigningKey } from './issuers/issuers.ts'
import { factsWithout, lockItemsForIssue, withoutMiskeyedItems } from './miskeyed-items.ts'
import { openCredential, SEALED_CREDENTIAL, sealCredential } from './personal-values.ts'
import { addMonths, getCredentialPolicy } from './policies.ts'
import { signAsJwt, signOpenBadge } from './proof/sign.ts'
import { deleteRevokedContent, revokeCredentials } from './revocation.ts'
import type { CredentialSource } from './sources.ts'
import { chooseStatusEntry, countStatusEntries, type StatusEntry, statusListUrl } from './status-lists.ts'

export type IssueDeps = Pick<Context, 'clock' | 'config'>

/** A credential to sign. */
interface Draft {
  credentialId: string
  scope: OrgScope
  holderId: string
  source: Pick<CredentialSource, 'kind' | 'id' | 'externalId' | 'personId' | 'personKey'>
  skill: { number: number; name: string }
  facts: Facts
  responses: ScoredResponse[]
  contact: Contact
  /** The name of the person, which is left out unless `showsName` is true. */
  name: string
  showsName: boolean
  language: string
  validUntil: Date
  isHidden: boolean
}

/**
 * Issues a credential for each verified skill of a source that has none yet. The caller has locked the consent, so that a retry does
 * not issue twice. A credential that the organisation or the person has revoked is not issued again. `isLimited` is for requests of the
 * person, who could consent and withdraw without end.
 */
export async function issueCredentials(
  tx: Tx,
  deps: IssueDeps,
  source: CredentialSource,
  consent: { holderId: string; showName: boolean; language: string },
  { isLimited = false }: { isLimited?: boolean } = {},
): Promise<CredentialRow[]> {
  const { credentials_enabled, credential_validity_months } = await getCredentialPolicy(tx, source.scope.orgId)
  // Nothing is issued to an erased person.
  if (!credentials_enabled || source.contact === undefined || source.personKey === null) return []
  await lockItemsForIssue(tx)
  const previous = await findPreviousCredentials(tx, source)
  const skills = await findIssuableSkills(tx, deps, source, credential_validity_months)
  const drafts = skills
    .filter(({ number }) => !previous.get(number)?.isSettled)
    .map(
      ({ number, name, facts, responses, validUntil }): Draft => ({
        credentialId: newCredentialId(),
        scope: source.scope,
        holderId: consent.holderId,
        source,
        skill: { number, name },
        facts,
        responses,
        contact: source.contact!,
        name: source.name,
        showsName: consent.showName,
        language: consent.language,
        validUntil,
        isHidden: previous.get(number)?.isHidden ?? false,
      }),
    )
  if (isLimited) await enforceIssueLimit(tx, deps, source, drafts)
  const issued = await signDrafts(tx, deps, drafts)
  for (const { credential_id, skill_number } of issued)
    await replaceCredentials(tx, deps, source, previous.get(skill_number)?.replaceableIds ?? [], credential_id)
  return issued
}

/** A verified skill, with the end of the validity period of its credential. */
interface IssuableSkill extends VerifiedSkill {
  validUntil: Date
}

/**
 * Returns the verified skills of a source for which a credential can be issued. Items that were retired because of a wrong key do not
 * count. The validity period starts with the verification, so that a credential that is issued later or again is not valid for longer.
 */
export async function findIssuableSkills(
  queries: Queries,
  { clock }: Pick<Context, 'clock'>,
  { scope, skills }: CredentialSource,
  validityMonths: number,
): Promise<IssuableSkill[]> {
  const verified = await withoutMiskeyedItems(queries, scope.orgId, skills)
  return verified
    .map((skill) => ({ ...skill, validUntil: addMonths(new Date(skill.facts.verifiedAt), validityMonths) }))
    .filter(({ validUntil }) => validUntil.getTime() > clock.now())
}

/** The credentials that were issued before for a skill of a source. */
interface PreviousCredentials {
  /** Whether one is valid, or was revoked for a reason that still holds. */
  isSettled: boolean
  /** Whether the holder hides the newest one in the profile. */
  isHidden: boolean
  /** Credentials that were revoked only because of their key. Their links lead to the new credential. */
  replaceableIds: string[]
}

async function findPreviousCredentials(
  tx: Tx,
  { kind, id }: CredentialSource,
): Promise<Map<number, PreviousCredentials>> {
  const { rows } = await sql<PreviousCredentials & { skill_number: number }>`
    select skill_number,
      bool_or(revoked_at is null or revocation_reason not in ('consent_withdrawn', 'key_revoked', 'replaced')) as "isSettled",
      (array_agg(is_hidden order by replaced_by is not null, issued_at desc, revoked_at desc nulls first))[1] as "isHidden",
      coalesce(array_agg(credential_id) filter (where revocation_reason = 'key_revoked' and replaced_by is null and credential is not null),
        '{}') as "replaceableIds"
    from credentials where source_kind = ${kind} and source_id = ${id} group by skill_number`.execute(tx)
  return new Map(rows.map(({ skill_number, ...previous }) => [skill_number, previous]))
}

/** Lets the links of credentials, and of all that they have replaced, lead to a new credential. */
async function replaceCredentials(
  tx: Tx,
  { clock }: IssueDeps,
  { kind, id }: CredentialSource,
  oldIds: string[],
  newId: string,
): Promise<void> {
  if (oldIds.length === 0) return
  await sql`update credentials set replaced_by = ${newId}, version = version + 1, updated_at = ${new Date(clock.now())}
    where source_kind = ${kind} and source_id = ${id} and replaced_by is distinct from ${newId}
      and (credential_id = any (${oldIds}::text[]) or replaced_by = any (${oldIds}::text[]))`.execute(tx)
}

/**
 * Issues credentials of a source again, with or without the name. The old ones are revoked and their content is deleted, because they
 * contain a name that the person may no longer want to show. Without the name, the content of credentials with the name that were
 * revoked before is deleted too.
 */
export async function reissueCredentials(
  tx: Tx,
  deps: IssueDeps,
  source: CredentialSource,
  showsName: boolean,
): Promise<void> {
  await lockItemsForIssue(tx)
  const { rows } = await sql<
    CredentialRow & { facts: Facts; responses: ScoredResponse[]; language: string; personal: Buffer | null }
  >`
    select ${credentialColumns}, facts, responses, language, personal from credentials
    where source_kind = ${source.kind} and source_id = ${source.id} and revoked_at is null and shows_name <> ${showsName}
    order by credential_id for update`.execute(tx)
  if (!showsName)
    await deleteRevokedContent(tx, deps, sql`source_kind = ${source.kind} and source_id = ${source.id} and shows_name`)
  if (source.contact === undefined || source.personKey === null) return
  const drafts: Draft[] = []
  for (const old of rows) {
    const credentialId = newCredentialId()
    await revokeCredentials(tx, deps, sql`credential_id = ${old.credential_id}`, 'replaced', {
      replacedBy: credentialId,
    })
    await replaceCredentials(tx, deps, source, [old.credential_id], credentialId)
    drafts.push({
      credentialId,
      scope: source.scope,
      holderId: old.holder_id,
      source,
      skill: { number: old.skill_number, name: old.skill_name },
      facts: factsWithout(
        {
          ...old.facts,
          source: openCredential(source.personKey, old.credential_id, old.personal)?.source ?? null,
        },
        old.responses,
      ),
      responses: old.responses,
      contact: source.contact,
      name: source.name,
      showsName,
      language: old.language,
      validUntil: old.valid_until,
      isHidden: old.is_hidden,
    })
  }
  // Removing the name always works.
  if (showsName) await enforceIssueLimit(tx, deps, source, drafts)
  await signDrafts(tx, deps, drafts)
}

/** Credentials for the same skill of a source within 24 hours: the first one, and ten that were issued again. */
const MAX_ISSUES_PER_DAY = 11

/** Rejects a change of the person that would issue credentials again too often. */
async function enforceIssueLimit(
  tx: Tx,
  { clock }: IssueDeps,
  { kind, id }: CredentialSource,
  drafts: Draft[],
): Promise<void> {
  const now = clock.now()
  const { rows } = await sql<{ issued_at: Date }>`
    select issued_at from (
      select issued_at, row_number() over (partition by skill_number order by issued_at desc) as position from credentials
      where source_kind = ${kind} and source_id = ${id} and issued_at > ${new Date(now - DAY)}
        and skill_number = any (${drafts.map(({ skill }) => skill.number)}::integer[])) as recent
    where position = ${MAX_ISSUES_PER_DAY} order by issued_at desc limit 1`.execute(tx)
  if (!rows[0]) return
  const retryAfter = Math.max(1, Math.ceil((rows[0].issued_at.getTime() + DAY - now) / SECOND))
  throw problem(
    'RATE_LIMITED',
    `Credentials can be issued again ${MAX_ISSUES_PER_DAY - 1} times in 24 hours. Try again in ${formatWait(retryAfter)}. Removing the name and withdrawing always work.`,
    { retryAfter },
  )
}

/** Random, not ordered by time: the ID of one credential must not lead to another one of the same person. */
function newCredentialId(): string {
  return `crd_${randomCode(26)}`
}

/** Signs and stores credentials, and records their events. */
async function signDrafts(tx: Tx, deps: IssueDeps, drafts: Draft[]): Promise<CredentialRow[]> {
  if (drafts.length === 0) return []
  const { clock, config } = deps
  const { scope } = drafts[0]!
  const { name: organisationName } = await getOrganisation(tx, scope.orgId)
  const key = await openSigningKey(tx, config, clock, scope)
  const catalogueSkills = await readCatalogueSkills(
    tx,
    drafts.map(({ skill }) => skill.number),
  )
  const now = new Date(clock.now())
  const rows: CredentialRow[] = []
  const entries: StatusEntry[] = []
  for (const draft of drafts) {
    const { credentialId } = draft
    const url = credentialUrl(config, credentialId)
    const salt = randomToken(16)
    const entry = await chooseStatusEntry(tx, clock, scope)
    const unsigned = buildCredential({
      id: url,
      baseUrl: baseUrl(config),
      issuer: { did: key.did, name: organisationName, isTest: scope.mode === 'test' },
      skill: {
        ...draft.skill,
        ...(catalogueSkills.get(draft.skill.number) ?? { description: undefined, escoUris: [] }),
      },
      facts: publicFacts(draft),
      contact: draft.contact,
      salt,
      shownName: draft.showsName ? draft.name : undefined,
      status: { listUrl: statusListUrl(config, entry.listId), index: entry.index },
      validFrom: now,
      validUntil: draft.validUntil,
    })
    const credential = JSON.stringify(await signOpenBadge(unsigned, key, now))
    const jwt = await signAsJwt(unsigned, key)
    const { rows: inserted } = await sql<CredentialRow>`
      insert into credentials (credential_id, url, org_id, mode, holder_id, source_kind, source_id, external_id, skill_number, skill_name,
        method, language, shows_name, identity_salt, credential, person_id, personal, facts, responses, item_ids, key_id, list_id, status_index, is_hidden,
        issued_at, valid_until, updated_at)
      values (${credentialId}, ${url}, ${scope.orgId}, ${scope.mode}, ${draft.holderId}, ${draft.source.kind}, ${draft.source.id},
        ${draft.source.externalId}, ${draft.skill.number}, ${draft.skill.name}, ${draft.facts.method}, ${draft.language},
        ${draft.showsName}, ${salt}, ${SEALED_CREDENTIAL}, ${draft.source.personId},
        ${sealCredential(draft.source.personKey!, credentialId, { credential, jwt, source: draft.facts.source })},
        ${JSON.stringify({ ...draft.facts, source: null })}, ${JSON.stringify(draft.responses)},
        ${draft.responses.map(({ id }) => id)}, ${key.keyId}, ${entry.listId}, ${entry.index}, ${draft.isHidden}, ${now}, ${draft.validUntil}, ${now})
      returning ${credentialColumns}`.execute(tx)
    rows.push(inserted[0]!)
    entries.push(entry)
  }
  await countStatusEntries(tx, entries)
  const records = rows.map((row) => credentialRecord(row, clock.now()))
  await recordEvents(tx, scope, clock, 'credential.issued', records)
  return rows
}

/**
 * Removes a title that contains an email address or a phone number. Unless the name is shown, also a title that contains a part of the
 * person's name or address, such as the project "Asha's portfolio".
 */
function publicFacts({ facts, name, contact, showsName }: Draft): Facts {
  if (facts.source === null) return facts
  const title = toSingleLine(facts.source.title).normalize('NFKC').toLowerCase()
  const digits = title.replace(/\P{Nd}/gu, '')
  const words = `${name} ${contact.value.split('@')[0]}`
    .normalize('NFKC')
    .toLowerCase()
    .split(/[\s.,_+-]+/u)
  const containsPerson =
    title.includes('@') ||
    [...digits].length >= 8 ||
    (!showsName && words.some((word) => [...word].length >= 3 && title.includes(word)))
  return containsPerson ? { ...facts, source: null } : facts
}

/** Returns the descriptions and the ESCO concepts of skills, by number. */
async function readCatalogueSkills(queries: Queries, numbers: number[]) {
  const { rows } = await sql<{ number: number; description: string; esco_uris: string[] }>`
    select s.number, s.description, array(
      select source_id from skill_sources e where e.skill_number = s.number and e.source = 'esco' order by source_id) as esco_uris
    from skills s where s.number = any (${numbers}::integer[])`.execute(queries)
  return new Map(
    rows.map(({ number, description, esco_uris }) => [
      number,
      { description, escoUris: esco_uris.filter((uri) => /^https?:\/\//.test(uri)) },
    ]),
  )
}
