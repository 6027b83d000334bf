import { t } from '../../translations/translate.ts'

/** The names of the sources of skills. */
export const SOURCE_NAMES: Record<string, string> = {
  builtin: t('Built-in'),
  esco: 'ESCO',
  onet: 'O*NET',
  lightcast: 'Lightcast',
  csv: t('CSV file'),
  request: t('Skill request'),
}
