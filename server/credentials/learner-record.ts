import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import type { Tx } from '../platform/database/database.ts'
import { isJsonObject, type JsonObject } from '../platform/json.ts'
import { findPublicCredential } from './credentials.ts'
import type { Holder } from './holders/holders.ts'
import type { IssueDeps } from './issue.ts'
import { baseUrl, openSigningKey } from './issuers/issuers.ts'
import { buildLearnerRecord } from './proof/clr.ts'
import { signAsJwt } from './proof/sign.ts'

/** Returns the valid credentials of a person as a Comprehensive Learner Record, signed by the deployment. */
export async function exportLearnerRecord(tx: Tx, { clock, config }: IssueDeps, holder: Holder): Promise<string> {
  const now = new Date(clock.now())
  const isTest = holder.mode === 'test'
  const { rows } = await sql<{ credential_id: string; is_hidden: boolean }>`
    select credential_id, is_hidden from credentials
    where holder_id = ${holder.holder_id} and revoked_at is null and valid_until > ${now}
    order by issued_at desc, credential_id`.execute(tx)
  const credentials: JsonObject[] = []
  for (const { credential_id, is_hidden } of rows) {
    const found = is_hidden ? undefined : await findPublicCredential(tx, credential_id)
    if (found) credentials.push(found.credential)
  }
  const [newest] = credentials
  if (!newest) throw problem('NOT_FOUND', 'There is no valid credential to export. Show at least one in the profile.')
  const key = await openSigningKey(tx, config, clock, isTest ? 'deployment_test' : 'deployment')
  const subject = newest.credentialSubject
  const record = buildLearnerRecord({
    id: `urn:uuid:${randomUUID()}`,
    issuer: {
      did: key.did,
      name: `Attestry at ${new URL(baseUrl(config)).host}${isTest ? ' (TEST)' : ''}`,
      url: baseUrl(config),
    },
    name: isTest ? 'Verified skills (TEST)' : 'Verified skills',
    identifiers: isJsonObject(subject) ? (subject.identifier as JsonObject[]) : [],
    credentials,
    validFrom: now,
    partial: credentials.length < rows.length,
  })
  return signAsJwt(record, key)
}
