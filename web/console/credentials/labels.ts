import type { Credential, CredentialRevocationReason, CredentialStatus } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'

export const STATUS_NAMES: Record<CredentialStatus, string> = {
  active: t('active'),
  expired: t('expired'),
  revoked: t('revoked'),
}

export const METHOD_NAMES: Record<Credential['method'], string> = {
  assessment: t('Assessment'),
  endorsement: t('Endorsement'),
  campaign: t('Campaign'),
}

export const REASON_NAMES: Record<CredentialRevocationReason, string> = {
  issued_in_error: t('Issued in error'),
  endorsement_withdrawn: t('Endorsement withdrawn'),
  evidence_wrong: t('Evidence is wrong'),
  other: t('Other reason'),
  consent_withdrawn: t('Person withdrew the consent'),
  holder_request: t('Revoked by the holder'),
  replaced: t('Replaced by a new credential'),
  measurement_wrong: t('A question was found to be wrong'),
  key_revoked: t('Signing key revoked'),
  person_erased: t('Data of the person was deleted'),
}
