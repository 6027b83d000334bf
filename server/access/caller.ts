import type { PartnerKey } from './keyring.ts'
import type { Mode } from './keys.ts'

/** Who makes a partner call, and for whom. Domain functions take it as their scope: organisation and mode. */
export interface Caller {
  orgId: string
  mode: Mode
  keyId: string
  key: PartnerKey
  /** The recruiter named by x-on-behalf-of. */
  onBehalfOf: string | undefined
  idempotencyKey: string | undefined
}

/** The rows that a domain function may see. */
export type OwnerScope = Pick<Caller, 'orgId' | 'mode'>

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the partner API's front door. */
    caller: Caller
  }
}
