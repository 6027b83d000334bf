import { isIP } from 'node:net'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { SignedInSession } from '../auth/sessions.ts'
import { consumeChallenge, createChallenge } from './challenges.ts'

const MAX_PASSKEYS = 20
/** Ed25519, ES256 and RS256. */
const ALGORITHM_IDS = [-8, -7, -257]

export interface Passkey {
  passkey_id: string
  email: string
  name: string
  credential_id: Buffer
  public_key: Buffer
  counter: string | number
  transports: string[]
  created_at: Date
  last_used_at: Date | null
}

type PasskeyDeps = Pick<Context, 'clock' | 'config' | 'vault'>

/** Compares addresses as for operators: an address that only resembles another one belongs to another person. */
export const hasEmail = (email: string) => sql<boolean>`lower(email collate "C") = lower(${email}::text collate "C")`

/** The relying party of passkeys, which is the host of the server; undefined if browsers allow no passkeys there. */
export function relyingParty({ publicUrl }: Pick<Context['config'], 'publicUrl'>) {
  if (publicUrl === undefined) return undefined
  const { hostname, origin, protocol } = new URL(publicUrl)
  const isUsable = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && (protocol === 'https:' || hostname === 'localhost')
  return isUsable ? { id: hostname, origin } : undefined
}

function requireRelyingParty({ config }: Pick<Context, 'config'>) {
  const party = relyingParty(config)
  if (!party)
    throw problem(
      'CONFLICT',
      'Passkeys need a server with a domain name and HTTPS. Ask the operator to set PUBLIC_URL.',
    )
  return party
}

export async function listPasskeys(queries: Queries, email: string): Promise<Passkey[]> {
  return queries.selectFrom('console_passkeys').selectAll().where(hasEmail(email)).orderBy('passkey_id').execute()
}

/** Returns the options with which the browser creates a passkey. */
export async function passkeyCreationOptions(
  tx: Tx,
  deps: PasskeyDeps,
  session: SignedInSession,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { id } = requireRelyingParty(deps)
  const { generateRegistrationOptions } = await import('@simplewebauthn/server')
  const passkeys = await listPasskeys(tx, session.email)
  if (passkeys.length >= MAX_PASSKEYS)
    throw problem('CONFLICT', `You have ${MAX_PASSKEYS} passkeys; remove one before you add another.`)
  return generateRegistrationOptions({
    rpName: 'Attestry',
    rpID: id,
    userName: session.email,
    // Authenticators keep one passkey per user handle, so it must be the same for all passkeys of a person.
    userID: new Uint8Array(deps.vault.mac(session.email.toLowerCase(), 'passkey user')),
    challenge: Buffer.from(await createChallenge(tx, deps, session), 'base64url'),
    attestationType: 'none',
    excludeCredentials: passkeys.map(credentialDescriptor),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHM_IDS,
  })
}

/** Stores the passkey that the browser created. Throws if the response is not valid. */
export async function addPasskey(
  tx: Tx,
  deps: PasskeyDeps,
  session: SignedInSession,
  { name, response }: { name: string; response: RegistrationResponseJSON },
): Promise<Passkey> {
  const { id, origin } = requireRelyingParty(deps)
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: (challenge) => consumeChallenge(tx, deps, session, challenge),
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHM_IDS,
  }).catch((error) => {
    throw invalidPasskeyProblem(error)
  })
  if (!verified) throw invalidPasskeyProblem()
  const { credential } = registrationInfo
  const now = deps.clock.now()
  const row = await tx
    .insertInto('console_passkeys')
    .values({
      passkey_id: newId('PK_', now),
      email: session.email,
      name,
      credential_id: Buffer.from(credential.id, 'base64url'),
      public_key: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: readTransports(credential.transports),
      created_at: new Date(now),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) throw problem('CONFLICT', 'This passkey is already registered.')
  return row
}

/** The library returns the transports as the browser sent them. */
function readTransports(sent: unknown): string[] {
  if (!Array.isArray(sent)) return []
  return sent.filter((transport) => typeof transport === 'string' && /^[a-z-]{1,30}$/.test(transport)).slice(0, 10)
}

/** Returns the options for signing in, or for confirming a session with one of the person's passkeys. */
export async function passkeyRequestOptions(
  tx: Tx,
  deps: PasskeyDeps,
  session?: SignedInSession,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { id } = requireRelyingParty(deps)
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  const challenge = Buffer.from(await createChallenge(tx, deps, session), 'base64url')
  return generateAuthenticationOptions({
    rpID: id,
    challenge,
    userVerification: 'required',
    // Without a list, the browser offers all passkeys of this server, and the response does not depend on the visitor.
    ...(session ? { allowCredentials: (await listPasskeys(tx, session.email)).map(credentialDescriptor) } : {}),
  })
}

/** Returns the passkey that signed the challenge. Throws UNAUTHORIZED if the response is not valid. */
export async function verifyPasskey(
  tx: Tx,
  deps: PasskeyDeps,
  response: AuthenticationResponseJSON,
  session?: SignedInSession,
): Promise<Passkey> {
  const { id, origin } = requireRelyingParty(deps)
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const passkey = await tx
    .selectFrom('console_passkeys')
    .selectAll()
    .where('credential_id', '=', Buffer.from(response.id, 'base64url'))
    .$if(session !== undefined, (query) => query.where(hasEmail(session!.email)))
    .forUpdate()
    .executeTakeFirst()
  if (!passkey) throw invalidPasskeyProblem()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (challenge) => consumeChallenge(tx, deps, session, challenge),
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id.toString('base64url'),
      publicKey: new Uint8Array(passkey.public_key),
      counter: Number(passkey.counter),
    },
  }).catch((error) => {
    throw invalidPasskeyProblem(error)
  })
  if (!verified) throw invalidPasskeyProblem()
  await tx
    .updateTable('console_passkeys')
    .set({ counter: authenticationInfo.newCounter, last_used_at: new Date(deps.clock.now()) })
    .where('passkey_id', '=', passkey.passkey_id)
    .execute()
  return passkey
}

export async function removePasskey(tx: Tx, email: string, passkeyId: string): Promise<Passkey> {
  const removed = await tx
    .deleteFrom('console_passkeys')
    .where(hasEmail(email))
    .where('passkey_id', '=', passkeyId)
    .returningAll()
    .executeTakeFirst()
  if (!removed) throw problem('NOT_FOUND', `Passkey ${passkeyId} not found.`)
  return removed
}

function credentialDescriptor({ credential_id, transports }: Passkey) {
  return { id: credential_id.toString('base64url'), transports }
}

function invalidPasskeyProblem(cause?: Error) {
  const error = problem('UNAUTHORIZED', 'This passkey is not valid here. Try again, or sign in by email.')
  error.cause = cause
  return error
}

export function passkeyRecord({ passkey_id, name, created_at, last_used_at }: Passkey) {
  return {
    passkey_id,
    name,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
  }
}
