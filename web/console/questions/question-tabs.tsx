import { t } from '../../translations/translate.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import './question-tabs.css'

const TABS = [
  { path: '/questions', name: t('All questions') },
  { path: '/question-bank', name: t('Your own questions') },
] as const

/** Links between the two pages of the menu entry Questions. */
export function QuestionTabs({ current }: { current: (typeof TABS)[number]['path'] }) {
  const context = useOrgContext()
  return (
    <nav class="question-tabs" aria-label={t('Questions')}>
      {TABS.map(({ path, name }) => (
        <Link key={path} to={context.pagePath(path)} current={path === current}>
          {name}
        </Link>
      ))}
    </nav>
  )
}
