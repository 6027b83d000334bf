import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import type { Vault } from '../platform/vault.ts'
import type { ChannelName } from './channel.ts'

/** A configured channel of an organisation. */
export interface ChannelAccount {
  channel_id: string
  org_id: string
  channel: ChannelName
  per_second: number | null
  created_at: Date
  updated_at: Date
  credentials: Record<string, unknown>
}

type AccountRow = Omit<ChannelAccount, 'credentials'> & { credentials: Buffer }

const columns = sql`channel_id, org_id, channel, per_second, created_at, updated_at, credentials`

/**
 * Stores an organisation's provider credentials; LIVE only, since TEST never calls providers. Returns the channel's ID, which
 * stays the same when credentials are rotated, so that the provider's callback URLs remain valid.
 */
export async function saveCredentials(
  tx: Tx,
  vault: Vault,
  clock: Clock,
  orgId: string,
  channel: ChannelName,
  credentials: object,
): Promise<string> {
  const encryptedCredentials = vault.seal(JSON.stringify(credentials), credentialsPurpose(orgId, channel))
  const now = clock.now()
  const { per_second: rate } = credentials as { per_second?: number }
  const { rows } = await sql<{ channel_id: string }>`
    insert into channel_credentials (org_id, channel, channel_id, per_second, credentials, created_at, updated_at)
    values (${orgId}, ${channel}, ${newId('CH_', now)}, ${rate ?? null}, ${encryptedCredentials}, ${new Date(now)}, ${new Date(now)})
    on conflict (org_id, channel) do update set credentials = excluded.credentials, per_second = excluded.per_second,
      updated_at = excluded.updated_at
    returning channel_id`.execute(tx)
  return rows[0]!.channel_id
}

/** Removes the credentials of a channel; returns false if there were none. */
export async function removeCredentials(tx: Tx, orgId: string, channel: ChannelName): Promise<boolean> {
  const { rows } = await sql`
    delete from channel_credentials where org_id = ${orgId} and channel = ${channel} returning 1`.execute(tx)
  return rows.length > 0
}

/** Returns the credentials together with the channel's ID. */
export async function findCredentials(
  tx: Queries,
  vault: Vault,
  orgId: string,
  channel: ChannelName,
): Promise<unknown | undefined> {
  const { rows } = await sql<AccountRow>`
    select ${columns} from channel_credentials where org_id = ${orgId} and channel = ${channel}`.execute(tx)
  const account = rows[0] && decryptAccount(vault, rows[0])
  return account && { ...account.credentials, channel_id: account.channel_id }
}

/** Finds an account by the channel ID in a provider's callback URL. */
export async function findAccount(tx: Queries, vault: Vault, channelId: string): Promise<ChannelAccount | undefined> {
  const { rows } = await sql<AccountRow>`
    select ${columns} from channel_credentials where channel_id = ${channelId}`.execute(tx)
  return rows[0] && decryptAccount(vault, rows[0])
}

/** Lists the accounts of one organisation, or of all, oldest first. */
export async function listAccounts(tx: Queries, vault: Vault, orgId: string | undefined): Promise<ChannelAccount[]> {
  const { rows } = await sql<AccountRow>`
    select ${columns} from channel_credentials where ${orgId ?? null}::text is null or org_id = ${orgId ?? null}
    order by channel_id`.execute(tx)
  return rows.map((row) => decryptAccount(vault, row))
}

/** Returns the channels that the organisation has credentials for, and email if the deployment has its own SMTP server. */
export async function availableChannels(tx: Queries, orgId: string, hasSmtpServer: boolean): Promise<Set<ChannelName>> {
  const { rows } = await sql<{ channel: ChannelName }>`
    select channel from channel_credentials where org_id = ${orgId}`.execute(tx)
  const channels = new Set(rows.map(({ channel }) => channel))
  if (hasSmtpServer) channels.add('email')
  return channels
}

/** Returns the configured send rates by organisation and channel. */
export async function sendRates(tx: Queries, orgIds: string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ org_id: string; channel: string; per_second: number }>`
    select org_id, channel, per_second from channel_credentials
    where org_id = any (${orgIds}) and per_second is not null`.execute(tx)
  return new Map(rows.map(({ org_id, channel, per_second }) => [`${org_id} ${channel}`, per_second]))
}

function decryptAccount(vault: Vault, row: AccountRow): ChannelAccount {
  return { ...row, credentials: JSON.parse(vault.open(row.credentials, credentialsPurpose(row.org_id, row.channel))) }
}

function credentialsPurpose(orgId: string, channel: string) {
  return `credentials of ${orgId} for ${channel}`
}

export const sealedCredentials: SealedColumn = {
  table: 'channel_credentials',
  column: 'credentials',
  id: ['org_id', 'channel'],
  purpose: credentialsPurpose,
}
