import type { Campaign, ResultStatus } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'

export const CAMPAIGN_STATUS_NAMES: Record<Campaign['status'], string> = {
  running: t('running'),
  scheduled: t('scheduled'),
  paused: t('paused'),
  completed: t('completed'),
  archived: t('archived'),
}

export const CANDIDATE_STATUS_NAMES: Record<ResultStatus, string> = {
  pending: t('pending'),
  completed: t('completed'),
  declined: t('declined'),
  failed: t('failed'),
}
