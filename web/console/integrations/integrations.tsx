import { useState } from 'preact/hooks'
import type { AtsConnection, AtsConnectionList, CreatedAtsConnection } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { MODE_NAMES } from '../shared/mode-names.ts'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { ConnectForm, ConnectionKey } from './connect-form.tsx'

/** The connections of the organisation to applicant tracking systems. */
export default function Integrations() {
  const context = useOrgContext()
  const list = useData<AtsConnectionList>(context.apiPath('/ats/connections'))
  const [connecting, setConnecting] = useState(false)
  const [created, setCreated] = useState<CreatedAtsConnection>()
  return (
    <>
      <div class="page-head">
        <h1>{t('Integrations')}</h1>
        {context.can('owner') && (
          <button type="button" class="primary" onClick={() => setConnecting(true)}>
            {t('Connect an ATS')}
          </button>
        )}
      </div>
      <p class="soft">
        {richText(
          'Recruiters order assessments inside their applicant tracking system (ATS), and see the results there. These connections use {mode} data.',
          { mode: <strong>{MODE_NAMES[context.mode]}</strong> },
        )}
      </p>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Connections')}
        rows={list.data?.items}
        keyOf={({ connection_id }) => connection_id}
        loading={list.loading}
        empty={
          <>
            <h2>{t('No ATS is connected')}</h2>
            <p class="soft">{t('Connect your ATS in three steps. Each of them is checked.')}</p>
          </>
        }
        columns={[
          {
            name: t('Name'),
            cell: ({ connection_id, name }) => (
              <Link to={context.pagePath(`/integrations/${connection_id}`)}>{name}</Link>
            ),
          },
          { name: t('ATS'), cell: ({ title }) => title },
          { name: t('Status'), cell: ({ state }) => <Badge state={state} /> },
          { name: t('Next step'), cell: (connection) => nextStep(connection) },
          { name: t('Created'), cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      {connecting && (
        <ConnectForm
          onClose={() => setConnecting(false)}
          onSaved={(connection) => {
            setConnecting(false)
            setCreated(connection)
            void list.reload()
          }}
        />
      )}
      {created && <ConnectionKey connection={created} onClose={() => setCreated(undefined)} />}
    </>
  )
}

function nextStep({ state, checks, title, signs_calls, missing_credentials }: AtsConnection): string {
  if (state === 'disconnected') return '–'
  if (missing_credentials.length > 0)
    return t('Enter the {missingCredentials}', { missingCredentials: missing_credentials.join(', ') })
  if (checks.tests_error) return t('Check why the list of tests was not accepted')
  if (signs_calls && !checks.called_at) return t('Enter the address in {title}', { title })
  if (!checks.called_at) return t('Enter the key in {title}', { title })
  if (!checks.ordered_at) return t('Send a test to a candidate')
  if (checks.paused_campaigns.length > 0) return t('Resume the paused campaign')
  if (checks.report_error) return t('Check why the last report was not accepted')
  return checks.reported_at ? t('Setup complete') : t('Wait for the first report')
}
