import { problem } from '../api/problem.ts'
import type { Tx } from '../platform/database/database.ts'
import type { PartnerKey } from './keyring.ts'
import type { Mode } from './keys.ts'

/** Where something is made: through the partner API, or by hand in the console. */
export type Via = 'api' | 'playground'

/** Who makes a partner call, and for whom. Domain functions take it as their scope: organisation and mode. */
export interface Caller {
  orgId: string
  mode: Mode
  keyId: string
  key: PartnerKey
  /** The recruiter named by x-on-behalf-of. */
  onBehalfOf: string | undefined
  idempotencyKey: string | undefined
  via: Via
  /** Everything is tried and answered, and nothing kept. */
  dryRun?: boolean
  /** Writes down what a call changes, in the transaction of the change. */
  record?(tx: Tx, answer: { status: number; body: object }): Promise<void>
}

/** The rows that a domain function may see. */
export type OwnerScope = Pick<Caller, 'orgId' | 'mode'>

/** The same, for functions that change something; the partner API unless said otherwise. */
export type Changer = OwnerScope & Partial<Pick<Caller, 'via'>>

/** A thing is changed where it was made: otherwise one side would find its things altered by the other. */
export function requireMadeHere(noun: string, createdVia: string, { via = 'api' }: Changer): void {
  if (createdVia === via) return
  throw problem(
    'FORBIDDEN',
    via === 'api'
      ? `This ${noun} was made in the playground; it cannot be changed through this API.`
      : `This ${noun} was made through the API; it can be read here, and changed through the API alone.`,
  )
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the partner API's front door, and by the console's where the call is about an organisation and a mode. */
    caller: Caller
    /** Whose key a call named that could not be authenticated. */
    claimed: PartnerKey | undefined
  }
}
