import { sql } from 'kysely'
import { createAtsKey, revokeAtsKey, revokeAtsKeys } from '../access/ats-keys.ts'
import type { OrgScope } from '../access/caller.ts'
import type { Mode } from '../access/keys.ts'
import type { LimitPreset } from '../access/limits/table.ts'
import { invalid } from '../api/invalid.ts'
import { type Detail, problem } from '../api/problem.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { findMandateIds } from '../mandates/mandate-rows.ts'
import type { Clock } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../platform/database/database.ts'
import { describePattern } from '../platform/http/validation.ts'
import { newId, randomToken } from '../platform/ids.ts'
import { redactAddresses } from '../platform/text/redact-addresses.ts'
import type { Vault } from '../platform/vault.ts'
import { type AdapterName, type AtsAdapter, type CredentialName, credentialNames, expectsKey } from './adapter.ts'
import { adapters } from './adapters.ts'
import { reportUrlError } from './hosts.ts'
import { callingCodeOf } from './phone.ts'
import { failPendingReports } from './reports/reports.ts'

/** Notification topic: the list of tests of a connection may have to be sent. */
export const TESTS_DUE = 'ats tests due'

export interface AtsConnection {
  connection_id: string
  org_id: string
  mode: Mode
  adapter: AdapterName
  name: string
  state: 'active' | 'disconnected'
  /** Base URL of the ATS's API; null for the public one. */
  api_url: string | null
  country: string
  consent_basis: string
  /** The mandates that are offered as tests; null for all mandates that are ready. */
  mandate_ids: string[] | null
  /** The last error that belongs to no order; null if there was none. */
  last_error: string | null
  last_error_at: Date | null
  /** When the ATS last accepted the list of tests, and why it did not accept a later one. Null if the ATS calls for the list. */
  tests_sent_at: Date | null
  tests_error: string | null
  created_at: Date
  updated_at: Date
}

/** The sealed part of a connection. */
export interface AtsCredentials {
  /** Signs the links to report pages. */
  linkKey: string
  token?: string
  account_id?: string
  signing_secret?: string
}

/** The values that the ATS issued. */
type CredentialInput = Partial<Record<CredentialName, string | undefined>>

export interface ConnectionInput extends CredentialInput {
  adapter: AdapterName
  name: string
  country: string
  consent_basis: string
  mandate_ids?: string[] | null | undefined
  /** Another base URL than the default one of the ATS. */
  api_url?: string | undefined
}

const MAX_CONNECTIONS = 20
export const MAX_LISTED_MANDATES = 1000
export const MAX_CONSENT_BASIS_LENGTH = 500
export const MAX_TOKEN_LENGTH = 1000
export const MAX_API_URL_LENGTH = 2000
const MAX_ERROR_LENGTH = 2000

/** A credential is sent in a header, which takes neither spaces nor letters outside ASCII. */
export const TOKEN_PATTERN = describePattern('^[\\x21-\\x7e]+$', 'must be ASCII characters without spaces')

/** Creates a connection. Rejects input that its adapter cannot use. */
export async function createConnection(
  tx: Tx,
  { vault, clock, config }: Pick<Context, 'vault' | 'clock' | 'config'>,
  scope: OrgScope,
  input: ConnectionInput,
): Promise<AtsConnection> {
  const errors = await connectionErrors(tx, config, scope, input)
  if (errors.length > 0) throw invalid(errors)
  const { rows: counts } = await sql<{ count: number }>`
    select count(*)::int as count from ats_connections
    where org_id = ${scope.orgId} and mode = ${scope.mode} and state = 'active'`.execute(tx)
  if (counts[0]!.count >= MAX_CONNECTIONS)
    throw problem(
      'LIMIT_EXCEEDED',
      `An organisation can have ${MAX_CONNECTIONS} connections per mode. Disconnect one first.`,
    )
  const now = clock.now()
  const connectionId = newId('AC_', now)
  const credentials: AtsCredentials = {
    linkKey: randomToken(32),
    ...enteredCredentials(input),
  }
  const testsDueAt = adapters[input.adapter].buildTestList ? new Date(now) : null
  const { rows } = await sql<AtsConnection>`
    insert into ats_connections (connection_id, org_id, mode, adapter, name, credentials, api_url, country, consent_basis,
      mandate_ids, tests_due_at, created_at, updated_at)
    values (${connectionId}, ${scope.orgId}, ${scope.mode}, ${input.adapter}, ${input.name},
      ${vault.seal(JSON.stringify(credentials), credentialsPurpose(connectionId))}, ${input.api_url === undefined ? null : removeTrailingSlashes(input.api_url)},
      ${input.country.toUpperCase()}, ${input.consent_basis}, ${input.mandate_ids ?? null}::text[], ${testsDueAt}, ${new Date(now)}, ${new Date(now)})
    returning ${columns}`.execute(tx)
  notifyAfterCommit(tx, TESTS_DUE)
  return rows[0]!
}

async function connectionErrors(tx: Tx, config: Config, scope: OrgScope, input: ConnectionInput): Promise<Detail[]> {
  const adapter = adapters[input.adapter]
  const errors = credentialErrors(adapter, input)
  for (const { name, help, isLater } of adapter.credentials)
    if (!input[name] && !isLater) errors.push({ path: name, message: `is required for ${adapter.title}: ${help}` })
  if (!input.consent_basis.trim() || [...input.consent_basis].length > MAX_CONSENT_BASIS_LENGTH)
    errors.push({
      path: 'consent_basis',
      message: `must have 1 to ${MAX_CONSENT_BASIS_LENGTH} characters, at least one of them not a space`,
    })
  if (callingCodeOf(input.country) === undefined)
    errors.push({ path: 'country', message: 'must be a country code of ISO 3166-1, such as IN' })
  if (input.api_url !== undefined) errors.push(...apiUrlErrors(input.api_url, adapter, scope.mode, config))
  if (input.mandate_ids) errors.push(...(await mandateErrors(tx, scope, input.mandate_ids)))
  return errors
}

function credentialErrors({ credentials, title }: AtsAdapter, input: CredentialInput): Detail[] {
  return credentialNames.flatMap((path) => {
    const value = input[path]
    if (value === undefined) return []
    if (credentials.every(({ name }) => name !== path)) return [{ path, message: `is not used by ${title}` }]
    if (value.length <= MAX_TOKEN_LENGTH && new RegExp(TOKEN_PATTERN).test(value)) return []
    return [{ path, message: `must have 1 to ${MAX_TOKEN_LENGTH} ASCII characters without spaces` }]
  })
}

function enteredCredentials(input: CredentialInput): Omit<AtsCredentials, 'linkKey'> {
  return Object.fromEntries(credentialNames.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])))
}

function apiUrlErrors(url: string, adapter: AtsAdapter, mode: Mode, config: Config): Detail[] {
  const message =
    adapter.apiUrl === undefined
      ? `is not used by ${adapter.title}, which names the URL in each order`
      : url.includes('?')
        ? 'must not contain a query string; remove “?” and the text after it'
        : reportUrlError(url, adapter, mode, config)
  return message === undefined ? [] : [{ path: 'api_url', message }]
}

/** Removes trailing slashes, because paths are appended to the URL. */
function removeTrailingSlashes(url: string): string {
  return url.replace(/\/+$/, '')
}

async function mandateErrors(tx: Tx, scope: OrgScope, mandateIds: string[]): Promise<Detail[]> {
  const knownIds = await findMandateIds(tx, scope, mandateIds)
  return mandateIds.flatMap((id, index) =>
    knownIds.has(id)
      ? []
      : [{ path: `mandate_ids[${index}]`, message: `${id} is not a mandate of this organisation and mode` }],
  )
}

const columns = sql`connection_id, org_id, mode, adapter, name, state, api_url, country, consent_basis, mandate_ids,
  last_error, last_error_at, tests_sent_at, tests_error, created_at, updated_at`

async function findConnection(
  queries: Queries,
  { orgId, mode }: OrgScope,
  id: string,
): Promise<AtsConnection | undefined> {
  const { rows } = await sql<AtsConnection>`
    select ${columns} from ats_connections where connection_id = ${id} and org_id = ${orgId} and mode = ${mode}`.execute(
    queries,
  )
  return rows[0]
}

export async function getConnection(queries: Queries, scope: OrgScope, id: string): Promise<AtsConnection> {
  const connection = await findConnection(queries, scope, id)
  if (!connection) throw problem('NOT_FOUND', `Connection ${id} not found.`)
  return connection
}

/**
 * Creates a key of a connection. For an ATS that signs its calls, the key only carries the rate limits and the time of the last use, and
 * is not returned.
 */
export async function createConnectionKey(
  tx: Tx,
  deps: Pick<Context, 'vault' | 'clock'>,
  { connection_id: connectionId, org_id: orgId, mode, adapter }: AtsConnection,
  preset?: LimitPreset,
): Promise<{ keyId: string; key: string | null }> {
  const isStored = expectsKey(adapters[adapter])
  const { keyId, key } = await createAtsKey(tx, deps, { orgId, mode, connectionId, adapter, isStored, preset })
  return { keyId, key: adapters[adapter].verifySignature ? null : key }
}

/** Creates another key, so that the first can be replaced. */
export async function addConnectionKey(
  tx: Tx,
  deps: Pick<Context, 'vault' | 'clock'>,
  scope: OrgScope,
  id: string,
): Promise<{ connection: AtsConnection; keyId: string; key: string | null }> {
  const connection = await lockActiveConnection(tx, scope, id)
  requireKeys(connection)
  return { connection, ...(await createConnectionKey(tx, deps, connection)) }
}

/** Revokes a key of a connection. Revoking a revoked key changes nothing. */
export async function revokeConnectionKey(
  tx: Tx,
  clock: Clock,
  scope: OrgScope,
  id: string,
  keyId: string,
): Promise<AtsConnection> {
  const connection = await getConnection(tx, scope, id)
  requireKeys(connection)
  await revokeAtsKey(tx, clock, id, keyId)
  return connection
}

/** The key of an ATS that signs its calls is internal, and without it the connection does not work. */
function requireKeys({ adapter }: AtsConnection): void {
  const { title, verifySignature } = adapters[adapter]
  if (verifySignature)
    throw problem(
      'CONFLICT',
      `${title} signs its calls and has no keys. Change the webhook secret of the connection, or disconnect it.`,
    )
}

/** Lists the connections of an organisation, oldest first. */
export async function listConnections(queries: Queries, { orgId, mode }: OrgScope): Promise<AtsConnection[]> {
  const { rows } = await sql<AtsConnection>`
    select ${columns} from ats_connections where org_id = ${orgId} and mode = ${mode} order by connection_id`.execute(
    queries,
  )
  return rows
}

/** Returns the organisation and mode of a connection; for commands, which name only the connection. */
export async function getConnectionScope(queries: Queries, id: string): Promise<OrgScope> {
  const { rows } = await sql<{ org_id: string; mode: Mode }>`
    select org_id, mode from ats_connections where connection_id = ${id}`.execute(queries)
  if (!rows[0]) throw problem('NOT_FOUND', `Connection ${id} not found.`)
  return { orgId: rows[0].org_id, mode: rows[0].mode }
}

export async function openCredentials(queries: Queries, vault: Vault, connectionId: string): Promise<AtsCredentials> {
  const { rows } = await sql<{ credentials: Buffer }>`
    select credentials from ats_connections where connection_id = ${connectionId}`.execute(queries)
  return JSON.parse(vault.open(rows[0]!.credentials, credentialsPurpose(connectionId))) as AtsCredentials
}

export interface ConnectionChange extends CredentialInput {
  name?: string | undefined
  country?: string | undefined
  consent_basis?: string | undefined
  mandate_ids?: string[] | null | undefined
  api_url?: string | undefined
}

/** Changes the given fields of an active connection. */
export async function changeConnection(
  tx: Tx,
  { vault, clock, config }: Pick<Context, 'vault' | 'clock' | 'config'>,
  scope: OrgScope,
  id: string,
  change: ConnectionChange,
): Promise<AtsConnection> {
  const current = await lockConnection(tx, scope, id)
  if (current.state === 'disconnected') throw problem('CONFLICT', `${id} is disconnected; create a new connection.`)
  const adapter = adapters[current.adapter]
  const errors = credentialErrors(adapter, change)
  if (change.api_url !== undefined) errors.push(...apiUrlErrors(change.api_url, adapter, scope.mode, config))
  if (change.country !== undefined && callingCodeOf(change.country) === undefined)
    errors.push({ path: 'country', message: 'must be a country code of ISO 3166-1, such as IN' })
  if (change.mandate_ids) errors.push(...(await mandateErrors(tx, scope, change.mandate_ids)))
  if (errors.length > 0) throw invalid(errors)
  const newCredentials = enteredCredentials(change)
  if (Object.keys(newCredentials).length > 0) {
    const credentials = { ...(await openCredentials(tx, vault, id)), ...newCredentials }
    await sql`update ats_connections set credentials = ${vault.seal(JSON.stringify(credentials), credentialsPurpose(id))}
      where connection_id = ${id}`.execute(tx)
  }
  const mandateIds = change.mandate_ids === undefined ? current.mandate_ids : change.mandate_ids
  const { rows } = await sql<AtsConnection>`
    update ats_connections set name = ${change.name ?? current.name}, country = ${(change.country ?? current.country).toUpperCase()},
      consent_basis = ${change.consent_basis ?? current.consent_basis}, mandate_ids = ${mandateIds}::text[],
      api_url = ${change.api_url === undefined ? current.api_url : removeTrailingSlashes(change.api_url)}, updated_at = ${new Date(clock.now())}
    where connection_id = ${id} returning ${columns}`.execute(tx)
  await requestTestList(tx, clock, id)
  return rows[0]!
}

/** Schedules the list of tests to be sent again, if the ATS expects Attestry to send it. */
export async function requestTestList(tx: Tx, clock: Clock, id: string): Promise<void> {
  await sql`update ats_connections set tests_due_at = ${new Date(clock.now())}, tests_digest = null
    where connection_id = ${id} and tests_due_at is not null`.execute(tx)
  notifyAfterCommit(tx, TESTS_DUE)
}

/**
 * Disconnects an ATS: its keys are revoked, pending reports fail, and links to reports stop working. Orders and their results stay.
 * Candidates with an open order continue their conversation. Idempotent.
 */
export async function disconnect(
  tx: Tx,
  { vault, clock }: Pick<Context, 'vault' | 'clock'>,
  scope: OrgScope,
  id: string,
): Promise<AtsConnection> {
  const current = await lockConnection(tx, scope, id)
  if (current.state === 'disconnected') return current
  await revokeAtsKeys(tx, clock, id)
  await failPendingReports(tx, id, 'the ATS was disconnected')
  // A new signing key makes the old links invalid; the credential of the customer is deleted.
  const credentials: AtsCredentials = { linkKey: randomToken(32) }
  const { rows } = await sql<AtsConnection>`
    update ats_connections set state = 'disconnected', tests_due_at = null, updated_at = ${new Date(clock.now())},
      credentials = ${vault.seal(JSON.stringify(credentials), credentialsPurpose(id))}
    where connection_id = ${id} returning ${columns}`.execute(tx)
  return rows[0]!
}

/** Stores the last error of a connection that belongs to no order, for the console. It may repeat values of a candidate. */
export async function recordConnectionError(tx: Tx, clock: Clock, id: string, error: string): Promise<void> {
  await sql`update ats_connections set last_error = ${redactAddresses(error).slice(0, MAX_ERROR_LENGTH)},
    last_error_at = ${new Date(clock.now())} where connection_id = ${id}`.execute(tx)
}

async function lockConnection(
  tx: Tx,
  { orgId, mode }: OrgScope,
  id: string,
  strength = sql`for update`,
): Promise<AtsConnection> {
  const { rows } = await sql<AtsConnection>`
    select ${columns} from ats_connections where connection_id = ${id} and org_id = ${orgId} and mode = ${mode} ${strength}`.execute(
    tx,
  )
  if (!rows[0]) throw problem('NOT_FOUND', `Connection ${id} not found.`)
  return rows[0]
}

/** Returns a connection that stays connected until the end of the transaction. */
export async function lockActiveConnection(tx: Tx, scope: OrgScope, id: string): Promise<AtsConnection> {
  const connection = await lockConnection(tx, scope, id, sql`for share`)
  if (connection.state === 'disconnected')
    throw problem('CONFLICT', 'This connection is disconnected; create a new one.')
  return connection
}

function credentialsPurpose(connectionId: string) {
  return `credentials of ${connectionId}`
}

export const sealedAtsCredentials: SealedColumn = {
  table: 'ats_connections',
  column: 'credentials',
  id: ['connection_id'],
  purpose: credentialsPurpose,
}
