import type { Branding } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'
import { BrandingForm } from './branding-form.tsx'
import './branding.css'

/** The name, logo, colour, reply address and footer on the pages and emails that people see. */
export default function BrandingPage() {
  const { org, can } = useOrgContext()
  const path = `/orgs/${org.org_id}/branding`
  const branding = useData<Branding>(path)
  return (
    <>
      <h1>{t('Branding')}</h1>
      <p class="soft">
        {t(
          'Candidates, students, reviewers and hiring managers see this on their pages and in their emails, in TEST and LIVE mode. Empty fields keep the look of Attestry.',
        )}
      </p>
      {branding.error && <Notice kind="bad">{branding.error.message}</Notice>}
      {branding.data && (
        <BrandingForm path={path} branding={branding.data} isOwner={can('owner')} onSaved={branding.set} />
      )}
    </>
  )
}
