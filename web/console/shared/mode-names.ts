import { t } from '../../translations/translate.ts'

/** Names of the modes of the API. */
export const MODE_NAMES: Record<string, string> = { test: t('test'), live: t('live') }
