import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { Queries, Tx } from '../platform/database/database.ts'

export const MAX_ORIGINS = 20
export const MAX_ORIGIN_LENGTH = 255
/** Allows every port of this machine, in TEST mode only. */
const LOCALHOST_WILDCARD = 'http://localhost:*'
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1'])

/** Returns the origins that may embed pages of the organisation in this mode. */
export async function getOrigins(queries: Queries, { orgId, mode }: OrgScope): Promise<string[]> {
  const { rows } = await sql<{ origins: string[] }>`
    select origins from embed_origins where org_id = ${orgId} and mode = ${mode}`.execute(queries)
  return rows[0]?.origins ?? []
}

/** Same as `getOrigins`, and locks the list, so that removing an origin waits and then ends the sessions created meanwhile, too. */
export async function lockOrigins(tx: Tx, { orgId, mode }: OrgScope): Promise<string[]> {
  const { rows } = await sql<{ origins: string[] }>`
    select origins from embed_origins where org_id = ${orgId} and mode = ${mode} for share`.execute(tx)
  return rows[0]?.origins ?? []
}

/** Returns whether an origin is on a list, exactly or by the entry for all ports of localhost. */
export function isListed(origin: string, origins: readonly string[]): boolean {
  return (
    origins.includes(origin) || (origins.includes(LOCALHOST_WILDCARD) && /^http:\/\/localhost(:\d+)?$/.test(origin))
  )
}

/** Parses an entry of the list: an exact origin, or all ports of localhost. */
export function parseListedOrigin(text: string, mode: OrgScope['mode']): { origin: string } | { error: string } {
  if (text === LOCALHOST_WILDCARD)
    return mode === 'test' ? { origin: text } : { error: `must not be ${text}, which is accepted in TEST mode only` }
  return parseOrigin(text, mode)
}

/** Parses an exact origin: scheme, host and port, and nothing else. Other schemes than https are accepted for this machine in TEST mode. */
export function parseOrigin(text: string, mode: OrgScope['mode']): { origin: string } | { error: string } {
  const shown = JSON.stringify(text.slice(0, MAX_ORIGIN_LENGTH))
  if (text.includes('*')) return { error: `must be one exact origin, without a wildcard; got ${shown}` }
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (!url || !isWeb || /[\s;,'"]/.test(text))
    return { error: `must be an origin such as https://careers.example.com; got ${shown}` }
  if (url.origin !== text.toLowerCase() && `${url.origin}/` !== text.toLowerCase())
    return isOriginWithDefaultPort(text, url)
      ? { error: `must not name the default port; write ${url.origin}` }
      : { error: `must have a scheme, a host and an optional port only; write ${url.origin} instead of ${shown}` }
  if (!/^[a-z0-9.-]+$/.test(url.hostname))
    return { error: `must have a host of letters, digits, dots and hyphens only; got ${shown}` }
  if (url.protocol === 'https:') return { origin: url.origin }
  if (!LOOPBACK_HOSTS.has(url.hostname))
    return { error: `must start with https://; http is accepted in TEST mode for localhost only; got ${shown}` }
  return mode === 'test'
    ? { origin: url.origin }
    : { error: `must start with https://; ${url.origin} is accepted in TEST mode only` }
}

function isOriginWithDefaultPort(text: string, url: URL): boolean {
  const port = url.protocol === 'https:' ? 443 : 80
  return text.toLowerCase().replace(/\/$/, '') === `${url.origin}:${port}`
}
