import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { getOrganisation } from '../access/organisations.ts'
import type { Context } from '../context.ts'
import { recordEvents } from '../events/record.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { randomCode, randomToken } from '../platform/ids.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import { buildCredential, type Contact } from './build-credential.ts'
import { type CredentialRow, credentialColumns, credentialRecord, credentialUrl } from './credentials.ts'
import type { Facts, ScoredResponse, SourceKind, VerifiedSkill } from './facts.ts'
import { baseUrl, openSigningKey } from './issuers.ts'
import { addMonths, getCredentialPolicy } from './policies.ts'
import { signAsJwt, signCredential } from './proof/sign.ts'
import { revokeCredentials } from './revocation.ts'
import type { CredentialSource } from './sources.ts'
import { chooseStatusEntry, countStatusEntries, type StatusEntry, statusListUrl } from './status-lists.ts'

export type IssueDeps = Pick<Context, 'clock' | 'config'>

/** A credential to sign. */
interface Draft {
  credentialId: string
  scope: OrgScope
  holderId: string
  source: { kind: SourceKind; id: string; externalId: string }
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
 * not issue twice. A credential that the organisation or the person has revoked is not issued again.
 */
export async function issueCredentials(
  tx: Tx,
  deps: IssueDeps,
  source: CredentialSource,
  consent: { holderId: string; showName: boolean; language: string },
): Promise<CredentialRow[]> {
  const { credentials_enabled, credential_validity_months } = await getCredentialPolicy(tx, source.scope.orgId)
  if (!credentials_enabled || source.contact === undefined) return []
  const settledSkills = await findSettledSkills(tx, source)
  const validUntil = addMonths(new Date(deps.clock.now()), credential_validity_months)
  const drafts = source.skills
    .filter(({ number }) => !settledSkills.has(number))
    .map(
      ({ number, name, facts, responses }: VerifiedSkill): Draft => ({
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
        isHidden: false,
      }),
    )
  return signDrafts(tx, deps, drafts)
}

/** Returns the skills of a source with a credential that is valid, or that was revoked for a reason that still holds. */
async function findSettledSkills(tx: Tx, { kind, id }: CredentialSource): Promise<Set<number>> {
  const { rows } = await sql<{ skill_number: number }>`
    select skill_number from credentials where source_kind = ${kind} and source_id = ${id}
      and (revoked_at is null or revocation_reason not in ('consent_withdrawn', 'key_revoked', 'replaced'))`.execute(tx)
  return new Set(rows.map(({ skill_number }) => skill_number))
}

/**
 * Issues credentials of a source again, with or without the name. The old ones are revoked and their content is deleted, because they
 * contain a name that the person may no longer want to show.
 */
export async function reissueCredentials(
  tx: Tx,
  deps: IssueDeps,
  source: CredentialSource,
  showsName: boolean,
): Promise<void> {
  const { rows } = await sql<CredentialRow & { facts: Facts; responses: ScoredResponse[]; language: string }>`
    select ${credentialColumns}, facts, responses, language from credentials
    where source_kind = ${source.kind} and source_id = ${source.id} and revoked_at is null and shows_name <> ${showsName}
    order by credential_id for update`.execute(tx)
  if (source.contact === undefined) return
  const drafts: Draft[] = []
  for (const old of rows) {
    const credentialId = newCredentialId()
    await revokeCredentials(tx, deps, sql`credential_id = ${old.credential_id}`, 'replaced', {
      replacedBy: credentialId,
    })
    drafts.push({
      credentialId,
      scope: source.scope,
      holderId: old.holder_id,
      source,
      skill: { number: old.skill_number, name: old.skill_name },
      facts: old.facts,
      responses: old.responses,
      contact: source.contact,
      name: source.name,
      showsName,
      language: old.language,
      validUntil: old.valid_until,
      isHidden: old.is_hidden,
    })
  }
  await signDrafts(tx, deps, drafts)
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
      facts: draft.showsName ? draft.facts : withoutPerson(draft.facts, draft),
      contact: draft.contact,
      salt,
      shownName: draft.showsName ? draft.name : undefined,
      status: { listUrl: statusListUrl(config, entry.listId), index: entry.index },
      validFrom: now,
      validUntil: draft.validUntil,
    })
    const credential = JSON.stringify(await signCredential(unsigned, key, now))
    const jwt = await signAsJwt(unsigned, key)
    const { rows: inserted } = await sql<CredentialRow>`
      insert into credentials (credential_id, url, org_id, mode, holder_id, source_kind, source_id, external_id, skill_number, skill_name,
        method, language, shows_name, identity_salt, credential, jwt, facts, responses, item_ids, key_id, list_id, status_index, is_hidden,
        issued_at, valid_until, updated_at)
      values (${credentialId}, ${url}, ${scope.orgId}, ${scope.mode}, ${draft.holderId}, ${draft.source.kind}, ${draft.source.id},
        ${draft.source.externalId}, ${draft.skill.number}, ${draft.skill.name}, ${draft.facts.method}, ${draft.language},
        ${draft.showsName}, ${salt}, ${credential}, ${jwt}, ${JSON.stringify(draft.facts)}, ${JSON.stringify(draft.responses)},
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

/** Removes a title that contains a part of the person's name or address, such as the project "Asha's portfolio". */
function withoutPerson(facts: Facts, { name, contact }: Draft): Facts {
  if (facts.source === null) return facts
  const title = toSingleLine(facts.source.title).normalize('NFKC').toLowerCase()
  const digits = title.replace(/\D/g, '')
  const words = `${name} ${contact.value.split('@')[0]}`
    .normalize('NFKC')
    .toLowerCase()
    .split(/[\s.,_+-]+/u)
  const containsPerson =
    title.includes('@') || digits.length >= 8 || words.some((word) => [...word].length >= 3 && title.includes(word))
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
