import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { invalid } from '../../api/invalid.ts'
import { isLocalOnly } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { Clock } from '../../platform/clock.ts'
import type { SealedColumn } from '../../platform/data-key-rotation.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../../platform/database/database.ts'
import type { Vault } from '../../platform/vault.ts'
import { type TargetRules, urlError } from '../../webhooks/target-rules.ts'
import { CONTACT_DUE } from '../contact/messages.ts'

/** The service that checks phone numbers of an organisation before the first contact. */
export interface DndCheck {
  org_id: string
  url: string
  created_at: Date
  updated_at: Date
  last_success_at: Date | null
  failing_since: Date | null
  last_error: string | null
}

const columns = sql`org_id, url, created_at, updated_at, last_success_at, failing_since, last_error`

export async function findDndCheck(queries: Queries, orgId: string): Promise<DndCheck | undefined> {
  const { rows } = await sql<DndCheck>`select ${columns} from dnd_checks where org_id = ${orgId}`.execute(queries)
  return rows[0]
}

/** Returns whether the organisation has a check, which then cannot be removed or changed before the commit. */
export async function shareLockDndCheck(tx: Tx, orgId: string): Promise<boolean> {
  const { rows } = await sql`select from dnd_checks where org_id = ${orgId} for share`.execute(tx)
  return rows.length > 0
}

/** Returns the rules for the addresses that checks may call, which are the same as for webhooks. */
export function targetRules(config: Context['config']): TargetRules {
  return { allow: config.webhookAllow, onLoopback: isLocalOnly(config) }
}

/** Throws unless the URL is an https URL that this server may call. */
export async function requireDndUrl({ config }: Pick<Context, 'config'>, url: string): Promise<void> {
  const message = await urlError(url, 'live', targetRules(config))
  if (message) throw invalid([{ path: 'url', message }])
}

/**
 * Sets up the check of an organisation, and returns a new secret, which is shown only once. All LIVE candidates who were not contacted yet
 * are checked.
 */
export async function setDndCheck(tx: Tx, vault: Vault, clock: Clock, orgId: string, url: string): Promise<string> {
  const now = new Date(clock.now())
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  await sql`insert into dnd_checks (org_id, url, secret, created_at, updated_at)
    values (${orgId}, ${url}, ${vault.seal(secret, secretPurpose(orgId))}, ${now}, ${now})
    on conflict (org_id) do update set url = excluded.url, secret = excluded.secret, updated_at = excluded.updated_at,
      failing_since = null, last_error = null`.execute(tx)
  await sql`update contacts t set dnd_check_at = ${now} from candidates c
    where c.candidate_id = t.candidate_id and c.org_id = ${orgId} and c.mode = 'live' and c.phone_index is not null
      and t.kind = 'contact' and t.step = 0 and t.due_at is not null and c.dnd_checked_at is null`.execute(tx)
  notifyAfterCommit(tx, CONTACT_DUE)
  return secret
}

/** Removes the check of an organisation; returns false if there is none. Candidates who wait for it are contacted without it. */
export async function removeDndCheck(tx: Tx, orgId: string): Promise<boolean> {
  const { rows } = await sql`delete from dnd_checks where org_id = ${orgId} returning 1`.execute(tx)
  await endPendingChecks(tx, orgId)
  return rows.length > 0
}

/** Contacts the candidates of an organisation without a check, unless it has one again. */
export async function endPendingChecks(tx: Tx, orgId: string): Promise<void> {
  await sql`update contacts set dnd_check_at = null
    where dnd_check_at is not null and campaign_id in (select campaign_id from campaigns where org_id = ${orgId})
      and not exists (select from dnd_checks where org_id = ${orgId})`.execute(tx)
  notifyAfterCommit(tx, CONTACT_DUE)
}

export async function openDndSecret(queries: Queries, vault: Vault, orgId: string): Promise<string | undefined> {
  const { rows } = await sql<{ secret: Buffer }>`select secret from dnd_checks where org_id = ${orgId}`.execute(queries)
  return rows[0] && vault.open(rows[0].secret, secretPurpose(orgId))
}

function secretPurpose(orgId: string) {
  return `secret of the DND check of ${orgId}`
}

export const sealedDndSecrets: SealedColumn = {
  table: 'dnd_checks',
  column: 'secret',
  id: ['org_id'],
  purpose: secretPurpose,
}
