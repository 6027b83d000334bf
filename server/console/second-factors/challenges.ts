import type { Context } from '../../context.ts'
import { MINUTE } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { randomToken } from '../../platform/ids.ts'
import { hashToken } from '../../platform/token-hash.ts'
import type { SignedInSession } from '../auth/sessions.ts'

const CHALLENGE_VALID_MS = 5 * MINUTE

type ChallengeOwner = Pick<SignedInSession, 'tokenHash'> | undefined

/** Creates a challenge for an authenticator to sign: of a session, or of a visitor who signs in. */
export async function createChallenge(
  tx: Tx,
  { clock }: Pick<Context, 'clock'>,
  owner: ChallengeOwner,
): Promise<string> {
  const challenge = randomToken(32)
  await tx
    .insertInto('console_challenges')
    .values({
      challenge_hash: hashToken(challenge),
      token_hash: owner?.tokenHash ?? null,
      expires_at: new Date(clock.now() + CHALLENGE_VALID_MS),
    })
    .execute()
  return challenge
}

/** Returns whether the challenge is valid for its owner. It is valid once. */
export async function consumeChallenge(
  tx: Tx,
  { clock }: Pick<Context, 'clock'>,
  owner: ChallengeOwner,
  challenge: string,
): Promise<boolean> {
  const consumed = await tx
    .deleteFrom('console_challenges')
    .where('challenge_hash', '=', hashToken(challenge))
    .where('expires_at', '>', new Date(clock.now()))
    .where('token_hash', owner ? '=' : 'is', (owner?.tokenHash ?? null) as Buffer)
    .returning('challenge_hash')
    .executeTakeFirst()
  return consumed !== undefined
}

export async function deleteExpiredChallenges(tx: Tx, now: number): Promise<void> {
  await tx.deleteFrom('console_challenges').where('expires_at', '<=', new Date(now)).execute()
}
