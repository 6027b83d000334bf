import { sql } from 'kysely'
import type { CandidateChange } from '../campaigns/progress.ts'
import { noticeVersion } from '../notices/notice.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import type { Language } from '../platform/text/languages.ts'
import type { Subject } from './subjects.ts'

export interface StoredConsent {
  notice_version: number
  language: string
  given_at: Date
  withdrawn_at: Date | null
}

export async function findConsent(
  queries: Queries,
  { kind, id }: Pick<Subject, 'kind' | 'id'>,
): Promise<StoredConsent | undefined> {
  const { rows } = await sql<StoredConsent>`
    select notice_version, language, given_at, withdrawn_at from consents
    where subject_kind = ${kind} and subject_id = ${id}`.execute(queries)
  return rows[0]
}

/** Returns the language in which a student agreed to the notice. */
export async function findLanguageOfStudent(queries: Queries, verificationId: string): Promise<string | undefined> {
  return (await findConsent(queries, { kind: 'session', id: verificationId }))?.language
}

/**
 * Stores that a person agreed to the current notice. Agreeing to the same version again does not change the stored time. After a
 * withdrawal, or with a new version, the consent is replaced.
 */
export async function recordConsent(tx: Tx, clock: Clock, subject: Subject, language: Language): Promise<void> {
  await insertConsents(tx, clock.now(), [{ ...subject, language }])
}

/** Stores the consent of the candidates who agreed to the conversation, on any channel. */
export async function recordCandidateConsents(tx: Tx, changes: CandidateChange[], clock: Clock): Promise<void> {
  const consenting = changes.filter(({ reached }) => reached.includes('consented'))
  if (consenting.length === 0) return
  const { rows } = await sql<{ candidate_id: string; person_id: string | null }>`
    select candidate_id, person_id from candidates
    where candidate_id = any (${consenting.map(({ candidateId }) => candidateId)}::text[])`.execute(tx)
  const personOf = new Map(rows.map(({ candidate_id, person_id }) => [candidate_id, person_id]))
  await insertConsents(
    tx,
    clock.now(),
    consenting.map(({ candidateId, orgId, mode, language }) => ({
      kind: 'candidate' as const,
      id: candidateId,
      scope: { orgId, mode },
      personId: personOf.get(candidateId) ?? null,
      language,
    })),
  )
}

type NewConsent = Pick<Subject, 'kind' | 'id' | 'scope' | 'personId'> & { language: string }

async function insertConsents(tx: Tx, now: number, consents: NewConsent[]): Promise<void> {
  await sql`
    insert into consents as c (consent_id, org_id, mode, subject_kind, subject_id, person_id, notice_version, language, given_at)
    select n.consent_id, n.org_id, n.mode, n.subject_kind, n.subject_id, n.person_id, ${noticeVersion()}, n.language, ${new Date(now)}
    from unnest(${consents.map(() => newId('CNS_', now))}::text[], ${consents.map(({ scope }) => scope.orgId)}::text[],
      ${consents.map(({ scope }) => scope.mode)}::text[], ${consents.map(({ kind }) => kind)}::text[],
      ${consents.map(({ id }) => id)}::text[], ${consents.map(({ personId }) => personId)}::text[],
      ${consents.map(({ language }) => language)}::text[])
      as n (consent_id, org_id, mode, subject_kind, subject_id, person_id, language)
    on conflict (subject_kind, subject_id) do update
    set notice_version = excluded.notice_version, language = excluded.language, given_at = excluded.given_at, withdrawn_at = null,
      person_id = excluded.person_id
    where c.notice_version <> excluded.notice_version or c.withdrawn_at is not null`.execute(tx)
}

/** Marks all consents of a person as withdrawn. */
export async function withdrawConsents(tx: Tx, clock: Clock, personId: string): Promise<void> {
  await sql`update consents set withdrawn_at = ${new Date(clock.now())}
    where person_id = ${personId} and withdrawn_at is null`.execute(tx)
}
