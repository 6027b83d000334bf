import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import type { Vault } from '../platform/vault.ts'
import type { ChannelName } from './channel.ts'
import { listTemplates, withSettingsTemplates } from './templates/register.ts'
import type { RegisteredTemplate } from './templates/template.ts'
import { removeMessagingLimit } from './whatsapp/limits.ts'

/** A configured channel of an organisation. */
export interface ChannelAccount {
  channel_id: string
  org_id: string
  channel: ChannelName
  per_second: number | null
  created_at: Date
  updated_at: Date
  /** Time of the first request to the webhook URL that was entered at the provider. */
  webhook_called_at: Date | null
  credentials: Record<string, unknown>
}

/** An account with the registered templates of its messages. */
export interface TemplatedAccount extends ChannelAccount {
  templates: RegisteredTemplate[]
}

type AccountRow = Omit<ChannelAccount, 'credentials'> & { credentials: Buffer }

const columns = sql`channel_id, org_id, channel, per_second, created_at, updated_at, webhook_called_at, credentials`

/**
 * Settings that identify the account at the provider and the sender. The webhook URLs of Gupshup and Exotel depend on the password or
 * the API token, and those of Exotel are entered in a call flow.
 */
const ACCOUNT_FIELDS = [
  'provider',
  'phone_number_id',
  'business_account_id',
  'account_sid',
  'from',
  'messaging_service_sid',
  'user_id',
  'password',
  'api_token',
  'app_id',
]

/**
 * Stores an organisation's provider credentials; LIVE only, since TEST never calls providers. Returns the channel's ID, which
 * stays the same when credentials are rotated, so that the provider's callback URLs remain valid. The messaging limit that WhatsApp
 * reported for another account is deleted.
 */
export async function saveCredentials(
  tx: Tx,
  vault: Vault,
  clock: Clock,
  orgId: string,
  channel: ChannelName,
  credentials: object,
): Promise<string> {
  const isSameAccount = await hasSameAccount(tx, vault, { orgId, channel, credentials })
  if (channel === 'whatsapp' && !isSameAccount) await removeMessagingLimit(tx, orgId)
  const encryptedCredentials = vault.seal(JSON.stringify(credentials), credentialsPurpose(orgId, channel))
  const now = clock.now()
  const { per_second: rate } = credentials as { per_second?: number }
  const { rows } = await sql<{ channel_id: string }>`
    insert into channel_credentials (org_id, channel, channel_id, per_second, credentials, created_at, updated_at)
    values (${orgId}, ${channel}, ${newId('CH_', now)}, ${rate ?? null}, ${encryptedCredentials}, ${new Date(now)}, ${new Date(now)})
    on conflict (org_id, channel) do update set credentials = excluded.credentials, per_second = excluded.per_second,
      updated_at = excluded.updated_at, webhook_called_at = case when ${isSameAccount} then channel_credentials.webhook_called_at end
    returning channel_id`.execute(tx)
  return rows[0]!.channel_id
}

/** Whether the stored credentials are those of the same account. Locks them until the end of the transaction. */
async function hasSameAccount(
  tx: Tx,
  vault: Vault,
  { orgId, channel, credentials }: { orgId: string; channel: ChannelName; credentials: object },
): Promise<boolean> {
  const { rows } = await sql<AccountRow>`
    select ${columns} from channel_credentials where org_id = ${orgId} and channel = ${channel} for update`.execute(tx)
  if (!rows[0]) return false
  const before = decryptAccount(vault, rows[0]).credentials
  return ACCOUNT_FIELDS.every((field) => before[field] === (credentials as Record<string, unknown>)[field])
}

/** Removes the credentials of a channel; returns false if there were none. */
export async function removeCredentials(tx: Tx, orgId: string, channel: ChannelName): Promise<boolean> {
  if (channel === 'whatsapp') await removeMessagingLimit(tx, orgId)
  const { rows } = await sql`
    delete from channel_credentials where org_id = ${orgId} and channel = ${channel} returning 1`.execute(tx)
  return rows.length > 0
}

/** Returns the credentials together with the channel's ID and the registered templates of its messages. */
export async function findCredentials(
  tx: Queries,
  vault: Vault,
  orgId: string,
  channel: ChannelName,
): Promise<unknown | undefined> {
  const { rows } = await sql<AccountRow>`
    select ${columns} from channel_credentials where org_id = ${orgId} and channel = ${channel}`.execute(tx)
  if (!rows[0]) return undefined
  const { credentials, channel_id, templates } = await addTemplates(tx, decryptAccount(vault, rows[0]))
  return { ...credentials, channel_id, registered_templates: templates }
}

/** Finds an account by the channel ID in a provider's callback URL. */
export async function findAccount(tx: Queries, vault: Vault, channelId: string): Promise<ChannelAccount | undefined> {
  const { rows } = await sql<AccountRow>`
    select ${columns} from channel_credentials where channel_id = ${channelId}`.execute(tx)
  return rows[0] && decryptAccount(vault, rows[0])
}

/** Stores that the provider has called the webhook URL, so that the URL is entered there. */
export async function recordWebhookCall(
  queries: Queries,
  clock: Clock,
  { channel_id, webhook_called_at }: ChannelAccount,
): Promise<void> {
  if (webhook_called_at !== null) return
  await sql`update channel_credentials set webhook_called_at = ${new Date(clock.now())}
    where channel_id = ${channel_id} and webhook_called_at is null`.execute(queries)
}

/** Lists the accounts of one organisation, or of all, oldest first. */
export async function listAccounts(tx: Queries, vault: Vault, orgId: string | undefined): Promise<TemplatedAccount[]> {
  const { rows } = await sql<AccountRow>`
    select ${columns} from channel_credentials where ${orgId ?? null}::text is null or org_id = ${orgId ?? null}
    order by channel_id`.execute(tx)
  const accounts: TemplatedAccount[] = []
  for (const row of rows) accounts.push(await addTemplates(tx, decryptAccount(vault, row)))
  return accounts
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

async function addTemplates(tx: Queries, account: ChannelAccount): Promise<TemplatedAccount> {
  const { org_id: orgId, channel } = account
  const registered =
    channel === 'sms' || channel === 'whatsapp' ? await listTemplates(tx, { orgId, mode: 'live' }, channel) : []
  return { ...account, templates: withSettingsTemplates(registered, account) }
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
