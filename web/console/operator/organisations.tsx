import { displayLocale, t } from '../../translations/translate.ts'
import './organisations.css'
import { useContext, useState } from 'preact/hooks'
import type { OrganisationForOperator, ServiceSwitch } from '../../api-types/console.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { RefreshContext } from '../shell/session.ts'
import { Credits } from './credits.tsx'
import { OffboardingDialog } from './offboarding-dialog.tsx'
import { ServiceDialog } from './service-dialog.tsx'

type OpenDialog =
  | { kind: 'credits' | 'service' | 'offboarding'; org: OrganisationForOperator }
  | { kind: 'new' }
  | { kind: 'whole service' }

export default function OperatorOrganisations() {
  const { query } = useAddress()
  const search = query.get('q') ?? ''
  const list = useList<OrganisationForOperator>(
    `/operator/orgs${search.trim() ? `?q=${encodeURIComponent(search.trim())}` : ''}`,
  )
  const service = useData<ServiceSwitch>('/operator/service')
  const isServiceOn = service.data?.on ?? true
  const [dialog, setDialog] = useState<OpenDialog>()
  const refresh = useContext(RefreshContext)
  const close = () => setDialog(undefined)
  return (
    <>
      <div class="page-head">
        <h1>{t('Organisations')}</h1>
        <button type="button" class="primary" onClick={() => setDialog({ kind: 'new' })}>
          {t('New organisation')}
        </button>
      </div>
      {/* Rendered before the response, in its usual state, so that the content below does not move. */}
      <div class={`notice ${isServiceOn ? 'good' : 'bad'} row between`}>
        <span class={service.data ? '' : 'waiting'}>
          {isServiceOn
            ? t('The service is on, except for organisations that are switched off below.')
            : service.data?.state === 'api_off'
              ? t(
                  'The partner API is switched off for everyone: every call returns 503. Contacts, emails and webhooks continue.',
                )
              : t('The service is switched off for everyone: API calls return 503, and all work is held.')}
          {service.data?.reason && ` ${t('Reason: {reason}', { reason: service.data.reason })}`}
        </span>
        <button type="button" disabled={!service.data} onClick={() => setDialog({ kind: 'whole service' })}>
          {isServiceOn ? t('Switch off for everyone') : t('Switch on for everyone')}
        </button>
      </div>
      <div class="row filters">
        <label>
          {t('Name or ID')}
          <input type="search" value={search} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
        </label>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Organisations, newest first')}
        rows={list.items}
        keyOf={({ org_id }) => org_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          search ? (
            <p class="soft">{t('No organisation matches this name or ID.')}</p>
          ) : (
            <>
              <h2>{t('No organisation yet')}</h2>
              <p class="soft">
                {t('Create the first organisation, then add members, grant credits and run a first campaign.')}
              </p>
            </>
          )
        }
        columns={[
          {
            name: t('Name'),
            cell: ({ org_id, name }) => (
              <div class="organisation-cell">
                <Link to={`/${org_id}/test`}>{name}</Link>
                <div class="soft small">
                  <code>{org_id}</code>
                </div>
              </div>
            ),
          },
          {
            name: t('Service'),
            cell: ({ service_off, service_paused, service_off_reason }) => (
              <>
                <Badge state={service_paused ? 'paused' : service_off ? 'api_off' : 'enabled'} />
                {service_off_reason && <div class="soft small">{service_off_reason}</div>}
              </>
            ),
          },
          {
            name: t('Credits'),
            right: true,
            cell: ({ credits }) => (
              <>
                <div class="organisation-credits">
                  {t('{count} test', { count: credits.test.toLocaleString(displayLocale()) })}
                </div>
                <div class="organisation-credits">
                  {t('{count} live', { count: credits.live.toLocaleString(displayLocale()) })}
                </div>
              </>
            ),
          },
          {
            name: t('Members'),
            right: true,
            cell: ({ org_id, members }) => (
              <Link class="number-link" to={`/${org_id}/test/members`}>
                {members}
              </Link>
            ),
          },
          {
            name: t('Keys'),
            right: true,
            cell: ({ org_id, keys }) => (
              <Link class="number-link" to={`/${org_id}/test/keys`}>
                {keys}
              </Link>
            ),
          },
          { name: t('Created'), cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: t('Actions'),
            cell: (org) => (
              <span class="row organisation-actions">
                <button
                  type="button"
                  class="plain flush"
                  aria-label={t('Credits of {name}', { name: org.name })}
                  onClick={() => setDialog({ kind: 'credits', org })}
                >
                  {t('Credits')}
                </button>
                <button
                  type="button"
                  class="plain flush"
                  aria-label={t(org.service_off ? 'Switch on: {name}' : 'Switch off: {name}', { name: org.name })}
                  onClick={() => setDialog({ kind: 'service', org })}
                >
                  {t(org.service_off ? 'Switch on' : 'Switch off')}
                </button>
                <button
                  type="button"
                  class="plain flush"
                  aria-label={t('Export or erase {name}', { name: org.name })}
                  onClick={() => setDialog({ kind: 'offboarding', org })}
                >
                  {t('Export or erase')}
                </button>
              </span>
            ),
          },
        ]}
      />
      {dialog?.kind === 'new' && <NewOrganisation onClose={close} onCreated={reload} />}
      {dialog?.kind === 'offboarding' && (
        <OffboardingDialog org={dialog.org} onClose={close} onErased={() => void list.reload()} />
      )}
      {dialog?.kind === 'credits' && <Credits org={dialog.org} onClose={close} onGranted={() => void list.reload()} />}
      {dialog?.kind === 'service' && (
        <ServiceDialog
          name={dialog.org.name}
          path={`/operator/orgs/${dialog.org.org_id}/service`}
          isOn={!dialog.org.service_off}
          isPaused={dialog.org.service_paused}
          onClose={close}
          onDone={reload}
        />
      )}
      {dialog?.kind === 'whole service' && service.data && (
        <ServiceDialog
          path="/operator/service"
          isOn={service.data.on}
          isPaused={service.data.state === 'off'}
          onClose={close}
          onDone={() => void service.reload()}
        />
      )}
    </>
  )

  /** Also reloads the session, because the frame shows the organisation's name. */
  function reload() {
    void list.reload()
    void refresh()
  }
}

function NewOrganisation({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [name, setName] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = error?.details.find(({ path }) => path === 'name')?.message
  return (
    <Dialog title={t('New organisation')} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void createOrganisation(event)}>
        {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
        <Field
          id="organisation-name"
          label={t('Name')}
          hint={t('Candidates and reviewers may see this name.')}
          error={fieldError}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              required
              maxLength={200}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <SubmitButton class="primary" busy={busy} ready={name.trim() !== ''}>
          {t('Create organisation')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function createOrganisation(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api('/operator/orgs', { body: { name: name.trim() } })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onCreated()
    onClose()
  }
}
