import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import type { IssuedCredential } from './schema.ts'

/** Runs in the transaction that ends a verification with an outcome for each skill. */
export const verificationEnded =
  defineHook<[tx: Tx, verificationId: string, clock: Clock]>('verificationEnded').handledBy('credentials')

/** Runs in the transaction that withdraws the endorsement of a verification. */
export const endorsementWithdrawn =
  defineHook<[tx: Tx, verificationId: string, clock: Clock]>('endorsementWithdrawn').handledBy('credentials')

/** Returns the credentials that were issued for a verification. */
export const findVerificationCredentials = defineHook<[queries: Queries, verificationId: string], IssuedCredential[]>(
  'findVerificationCredentials',
).handledBy('credentials')
