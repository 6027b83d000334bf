import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import '../shared/forms.css'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { AtsConnection, CreatedAtsConnection } from '../../api-types/console.ts'
import { Badge } from '../../ui/badge.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { ConnectForm, ConnectionKey } from './connect-form.tsx'
import { AtsOrders } from './orders.tsx'

const POLL_INTERVAL_MS = 5000

type OpenDialog = { kind: 'edit' | 'disconnect' } | { kind: 'revoke'; keyId: string }

/** A connection: the three steps of its setup with their checks, its keys, orders and reports. */
export default function Integration({ params }: { params: Params }) {
  const context = useOrgContext()
  const path = context.apiPath(`/ats/connections/${params.connection_id}`)
  const { data, error, set, reload } = useData<AtsConnection>(path, { pollMs: POLL_INTERVAL_MS })
  const [dialog, setDialog] = useState<OpenDialog>()
  const [created, setCreated] = useState<CreatedAtsConnection>()
  const [problem, setProblem] = useState<string>()
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <h1 class="waiting">Integration</h1>
  const isActive = data.state === 'active'
  const isOwner = context.can('owner')
  const close = () => setDialog(undefined)
  return (
    <>
      <p>
        <Link to={context.pagePath('/integrations')}>{t('Integrations')}</Link>
      </p>
      <div class="page-head">
        <h1>
          {data.name} <Badge state={data.state} />
        </h1>
        {isOwner && isActive && (
          <div class="row">
            <button type="button" onClick={() => setDialog({ kind: 'edit' })}>
              {t('Edit')}
            </button>
            <button type="button" onClick={() => setDialog({ kind: 'disconnect' })}>
              {t('Disconnect')}
            </button>
          </div>
        )}
      </div>
      {problem && <Notice kind="bad">{problem}</Notice>}
      {data.checks.paused_campaigns.map(({ campaign_id, test_name, orders }) => (
        <Notice key={campaign_id} kind="wait">
          {richText(
            orders === 1
              ? '1 order waits, because the campaign of {testName} is paused. <link>Open the campaign</link> and choose Resume.'
              : '{orders} orders wait, because the campaign of {testName} is paused. <link>Open the campaign</link> and choose Resume.',
            {
              orders,
              testName: test_name,
              link: (words) => <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>{words}</Link>,
            },
          )}
        </Notice>
      ))}
      {data.checks.ats_error && data.checks.ats_error_at && (
        <Notice kind="bad">
          {richText('Last error, {time}: {atsError}', {
            time: <Time at={data.checks.ats_error_at} />,
            atsError: data.checks.ats_error,
          })}
        </Notice>
      )}
      {isActive && (
        <section class="stack" aria-label={t('Setup')}>
          <h2>{t('Setup')}</h2>
          <ol class="stack">
            <Step {...firstStep(data)}>
              {data.endpoints.map(({ name, url }) => (
                <div key={name} class="stack">
                  <div class="soft small">{name}</div>
                  <CopyText text={url} label={name} />
                </div>
              ))}
            </Step>
            <Step
              title={t('Send a test to a candidate')}
              done={data.checks.ordered_at}
              doneText={(time) => richText('Works: last order {time}', { time })}
              waitingText={
                data.checks.tests === 0
                  ? t('No job is ready, so the list of tests is empty. Create one first.')
                  : data.checks.tests === 1
                    ? t('1 test is offered. No order has arrived yet.')
                    : t('{count} tests are offered. No order has arrived yet.', { count: data.checks.tests })
              }
            />
            <Step
              title={t('See the result in {title}', { title: data.title })}
              done={data.checks.reported_at}
              doneText={(time) => richText('Works: last report {time}', { time })}
              waitingText={t('No report was sent yet.')}
              error={
                data.checks.report_error &&
                t('The last report was not accepted: {reportError}.', { reportError: data.checks.report_error })
              }
            />
          </ol>
        </section>
      )}
      <DescriptionList>
        <DescriptionItem name={t('ATS')}>{data.title}</DescriptionItem>
        {data.api_url && (
          <DescriptionItem name={t('API URL')}>
            <code>{data.api_url}</code>
          </DescriptionItem>
        )}
        <DescriptionItem name={t('Tests')}>{testsText(data.mandate_ids)}</DescriptionItem>
        <DescriptionItem name={t('Country of phone numbers')}>{data.country}</DescriptionItem>
        <DescriptionItem name={t('Why you may contact the candidates')}>{data.consent_basis}</DescriptionItem>
        <DescriptionItem name={t('Created')}>
          <Time at={data.created_at} />
        </DescriptionItem>
        <DescriptionItem name="ID">
          <code>{data.connection_id}</code>
        </DescriptionItem>
      </DescriptionList>
      {!data.signs_calls && (
        <section class="stack" aria-label={t('Keys')}>
          <div class="page-head">
            <h2>{t('Keys')}</h2>
            {isOwner && isActive && (
              <button type="button" class="small-button" onClick={() => void createKey()}>
                {t('Create key')}
              </button>
            )}
          </div>
          <Table
            caption={t('Keys of this connection')}
            rows={data.keys}
            keyOf={({ key_id }) => key_id}
            empty={<p class="soft">{t('This connection has no keys.')}</p>}
            columns={[
              { name: t('Key'), cell: ({ key_id }) => <code>{key_id}</code> },
              { name: t('Status'), cell: ({ status }) => <Badge state={status} /> },
              { name: t('Created'), cell: ({ created_at }) => <Time at={created_at} /> },
              {
                name: t('Last used'),
                cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : t('never')),
              },
              {
                name: t('Actions'),
                cell: ({ key_id, status }) =>
                  isOwner &&
                  status === 'active' && (
                    <button
                      type="button"
                      class="plain flush"
                      aria-label={t('Revoke {keyId}', { keyId: key_id })}
                      onClick={() => setDialog({ kind: 'revoke', keyId: key_id })}
                    >
                      {t('Revoke')}
                    </button>
                  ),
              },
            ]}
          />
        </section>
      )}
      <AtsOrders path={`${path}/orders`} canReplay={isActive && context.can('recruiter')} />
      {dialog?.kind === 'edit' && (
        <ConnectForm
          connection={data}
          onClose={close}
          onSaved={(saved) => {
            set(saved)
            close()
          }}
        />
      )}
      {dialog?.kind === 'disconnect' && (
        <Confirm
          title={t('Disconnect {name}?', { name: data.name })}
          action={t('Disconnect')}
          onClose={close}
          act={() => api(path, { method: 'DELETE' })}
          onDone={() => void reload()}
        >
          <p>
            {t(
              'All keys of this connection are revoked, pending reports are not sent, and links to reports stop working. Candidates with an open order can finish, and their results stay here. This cannot be undone.',
            )}
          </p>
        </Confirm>
      )}
      {dialog?.kind === 'revoke' && (
        <Confirm
          title={t('Revoke {keyId}?', { keyId: dialog.keyId })}
          action={t('Revoke key')}
          onClose={close}
          act={() => api(`${path}/keys/${dialog.keyId}/revoke`, { body: {} })}
          onDone={() => void reload()}
        >
          <p>{t('All calls with this key fail, starting within one second. This cannot be undone.')}</p>
        </Confirm>
      )}
      {created && <ConnectionKey connection={created} onClose={() => setCreated(undefined)} />}
    </>
  )

  async function createKey() {
    setProblem(undefined)
    const response = await api<CreatedAtsConnection>(`${path}/keys`, { body: {} })
    if (!response.ok) return setProblem(response.error.message)
    const { key: _, ...connection } = response.data
    set(connection)
    setCreated(response.data)
  }
}

function testsText(mandateIds: string[] | null): string {
  if (!mandateIds) return t('all jobs that are ready')
  return mandateIds.length === 1 ? t('1 chosen job') : t('{count} chosen jobs', { count: mandateIds.length })
}

interface StepProps {
  title: string
  /** When it last worked; null if it has not yet. */
  done: string | null
  doneText: (time: ComponentChildren) => ComponentChildren
  waitingText: string
  /** Why it does not work now, although it may have worked before. */
  error?: string | false | null
  children?: ComponentChildren
}

/** The first step: values to enter in the ATS, and the check, which is its first call or, if it signs its calls, its reply to the list of tests. */
function firstStep({ title, endpoints, signs_calls, missing_credentials, checks }: AtsConnection): StepProps {
  const hasOneAddress = endpoints.length === 1
  if (!signs_calls)
    return {
      title: hasOneAddress
        ? t('Enter the key and the address in {title}', { title })
        : t('Enter the key and the addresses in {title}', { title }),
      done: checks.called_at,
      doneText: (time) => richText('Works: last call {time}', { time }),
      waitingText: t('{title} has not called yet.', { title }),
    }
  return {
    title: hasOneAddress
      ? t('Enter the address in {title}', { title })
      : t('Enter the addresses in {title}', { title }),
    done: checks.tests_sent_at,
    doneText: (time) => richText('Works: list of tests sent {time}', { time }),
    waitingText: t('The list of tests was not sent yet.'),
    error: checks.tests_error
      ? t('{title} did not accept the list of tests: {testsError}.', { title, testsError: checks.tests_error })
      : missing_credentials.length > 0 &&
        t('Missing: {missingCredentials}. Choose Edit to enter it.', {
          missingCredentials: missing_credentials.join(', '),
        }),
  }
}

function Step({ title, done, doneText, waitingText, error, children }: StepProps) {
  return (
    <li class="stack">
      <strong>{title}</strong>
      {error && <div class="bad-text">{error}</div>}
      {done && !error && <div class="good-text">{doneText(<Time at={done} />)}</div>}
      {!done && !error && <div class="soft">{waitingText}</div>}
      {children}
    </li>
  )
}
