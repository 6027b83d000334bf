import type { Credential, CredentialRevocationReason, CredentialStatus } from '../../api-types/partner.ts'

export const STATUSES: CredentialStatus[] = ['active', 'expired', 'revoked']

export const METHOD_NAMES: Record<Credential['method'], string> = {
  assessment: 'Assessment',
  endorsement: 'Endorsement',
  campaign: 'Campaign',
}

export const REASON_NAMES: Record<CredentialRevocationReason, string> = {
  issued_in_error: 'Issued in error',
  endorsement_withdrawn: 'Endorsement withdrawn',
  evidence_wrong: 'Evidence is wrong',
  other: 'Other reason',
  consent_withdrawn: 'Person withdrew the consent',
  holder_request: 'Revoked by the holder',
  replaced: 'Replaced by a new credential',
  measurement_wrong: 'A question was found to be wrong',
  key_revoked: 'Signing key revoked',
  person_erased: 'Data of the person was deleted',
}
