import type { ItemSources } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

/** In LIVE mode, a notice if verified skills are asked only from the built-in bank, which candidates can read. */
export function PublicBankNotice({ skillIds, names }: { skillIds: string[]; names?: Map<string, string> }) {
  const context = useOrgContext()
  const isShown = context.mode === 'live' && skillIds.length > 0
  const { data } = useData<ItemSources>(
    isShown ? context.apiPath(`/item-sources?skill_ids=${skillIds.join(',')}`) : undefined,
  )
  const publicIds = (data?.public_bank_skill_ids ?? []).filter((id) => skillIds.includes(id))
  if (!isShown || publicIds.length === 0) return null
  return (
    <Notice kind="wait">
      <p>
        {t(
          publicIds.length === 1
            ? '{skills}: this skill is verified with built-in questions. Anyone can read them with their answers, because Attestry is open source. Candidates who prepare with them can be verified without the skill.'
            : '{skills}: these skills are verified with built-in questions. Anyone can read them with their answers, because Attestry is open source. Candidates who prepare with them can be verified without the skill.',
          {
            skills: new Intl.ListFormat(displayLocale() ?? 'en').format(publicIds.map((id) => names?.get(id) ?? id)),
          },
        )}
      </p>
      <p>
        {richText(
          'For LIVE jobs, import at least 12 questions of your own for each skill. <link>Open your own questions</link>',
          { link: (words) => <Link to={context.pagePath('/question-bank')}>{words}</Link> },
        )}
      </p>
    </Notice>
  )
}
