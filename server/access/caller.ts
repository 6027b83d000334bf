import { problem } from '../api/problem.ts'
import type { Tx } from '../platform/database/database.ts'
import type { PartnerKey } from './keyring.ts'
import type { Mode } from './keys.ts'

/** The API that a change is made through: the partner API, or the console's playground. */
type Via = 'api' | 'playground'

/** The authenticated caller of a partner request. Domain functions use it as their scope: organisation and mode. */
export interface Caller {
  orgId: string
  mode: Mode
  keyId: string
  key: PartnerKey
  /** The recruiter named by x-on-behalf-of. */
  onBehalfOf: string | undefined
  idempotencyKey: string | undefined
  via: Via
  /** Whether to run the request and roll it back. */
  dryRun?: boolean
  /** Records a change in the audit log, in the transaction of the change. */
  record?(tx: Tx, response: { status: number; body: object }): Promise<void>
}

/** Organisation and mode whose rows a domain function may read. */
export type OrgScope = Pick<Caller, 'orgId' | 'mode'>

/** Scope of functions that change records. `via` defaults to the partner API. */
export type WriteScope = OrgScope & Partial<Pick<Caller, 'via'>>

/**
 * Rejects changes through another API than the one that created the record, so that partners and console users do not overwrite each
 * other's work.
 */
export function requireCreatedVia(noun: string, createdVia: string, { via = 'api' }: WriteScope): void {
  if (createdVia === via) return
  throw problem(
    'FORBIDDEN',
    via === 'api'
      ? `This ${noun} was created in the playground; it can be changed only in the console.`
      : `This ${noun} was created through the API; it can be changed only through the API.`,
  )
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guards of the partner API, and by those of the console for requests about an organisation and a mode. */
    caller: Caller
    /** The key named by a request that failed authentication. */
    claimedKey: PartnerKey | undefined
  }
}
