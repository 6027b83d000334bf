import type { PublicCredential } from '../credentials.ts'

export type CredentialState = 'valid' | 'revoked' | 'expired'

export function credentialState(
  { revokedAt, validUntil }: Pick<PublicCredential, 'revokedAt' | 'validUntil'>,
  now: number,
): CredentialState {
  if (revokedAt) return 'revoked'
  return validUntil.getTime() <= now ? 'expired' : 'valid'
}
