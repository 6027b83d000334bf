import ipaddr from 'ipaddr.js'
import { sql } from 'kysely'
import { callerAddress } from '../../access/client-address.ts'
import type { Context } from '../../context.ts'
import { DAY } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import type { Session } from '../sessions.ts'

/** Time after which the hashes of networks and browsers are deleted. */
const ORIGIN_LIFETIME_MS = 90 * DAY

/** Keyed hashes of the network and the browser that a request came from. Neither can be read back. */
export interface Origin {
  networkHash: Buffer
  deviceHash: Buffer
}

interface OriginRequest {
  ip: string
  headers: Record<string, string | string[] | undefined>
}

/**
 * Returns the origin of a request. Returns undefined for private addresses: most of them are a proxy that is missing in
 * TRUST_PROXY, and would make all people look like one.
 */
export function originOf({ vault }: Pick<Context, 'vault'>, { ip, headers }: OriginRequest): Origin | undefined {
  const address = callerAddress(ip)
  const [network = ''] = address.split('/')
  if (!ipaddr.isValid(network) || ipaddr.parse(network).range() !== 'unicast') return undefined
  const browser = `${headers['user-agent'] ?? ''}\n${headers['accept-language'] ?? ''}`
  return {
    networkHash: vault.mac(address, 'network of a review'),
    deviceHash: vault.mac(`${address}\n${browser}`, 'device of a review'),
  }
}

/** Stores the hashed origin of a request of the student or the reviewer. */
export async function recordOrigin(
  tx: Tx,
  deps: Pick<Context, 'vault' | 'clock'>,
  session: Session,
  role: 'student' | 'reviewer',
  request: OriginRequest,
): Promise<void> {
  const origin = originOf(deps, request)
  if (origin) await insertOrigins(tx, role, deps.clock.now(), [{ session, origin }])
}

/** Stores the hashed origins of requests about different sessions. */
export async function insertOrigins(
  tx: Tx,
  role: 'student' | 'reviewer',
  now: number,
  origins: readonly { session: Pick<Session, 'id' | 'userId'>; origin: Origin }[],
): Promise<void> {
  if (origins.length === 0) return
  await sql`
    insert into review_origins (verification_id, user_id, role, network_hash, device_hash, seen_at)
    select verification_id, user_id, ${role}, network_hash, device_hash, ${new Date(now)}
    from unnest(${origins.map(({ session }) => session.id)}::text[], ${origins.map(({ session }) => session.userId)}::text[],
      ${origins.map(({ origin }) => origin.networkHash)}::bytea[], ${origins.map(({ origin }) => origin.deviceHash)}::bytea[])
      as n (verification_id, user_id, network_hash, device_hash)
    on conflict (verification_id, role, device_hash) do update set seen_at = excluded.seen_at`.execute(tx)
}

/** Returns whether the reviewer of a session used a device or a network of the student, in any session of the last 90 days. */
export async function compareOrigins(
  tx: Tx,
  session: Session,
  now: number,
): Promise<'same_device' | 'same_network' | undefined> {
  const { rows } = await sql<{ device: boolean }>`
    select bool_or(r.device_hash = s.device_hash) as device
    from review_origins r join review_origins s on s.user_id = r.user_id and s.role = 'student'
      and s.network_hash = r.network_hash and s.seen_at > ${new Date(now - ORIGIN_LIFETIME_MS)}
    where r.verification_id = ${session.id} and r.role = 'reviewer'
    having count(*) > 0`.execute(tx)
  if (rows.length === 0) return undefined
  return rows[0]!.device ? 'same_device' : 'same_network'
}

export async function deleteOldOrigins(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('review_origins')
    .where('seen_at', '<=', new Date(now - ORIGIN_LIFETIME_MS))
    .execute()
}
