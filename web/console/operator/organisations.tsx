import { useContext, useState } from 'preact/hooks'
import type { OrganisationForOperator, ServiceSwitch } from '../../api-types/console.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { RefreshContext } from '../shell/session.ts'
import { Credits } from './credits.tsx'

type OpenDialog =
  | { kind: 'credits' | 'service'; org: OrganisationForOperator }
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
        <h1>Organisations</h1>
        <button type="button" class="primary" onClick={() => setDialog({ kind: 'new' })}>
          New organisation
        </button>
      </div>
      {/* Rendered before the response, in its usual state, so that the content below does not move. */}
      <div class={`notice ${isServiceOn ? 'good' : 'bad'} row between`}>
        <span class={service.data ? '' : 'waiting'}>
          {isServiceOn
            ? 'The partner API is on, except for organisations that are switched off below.'
            : 'The partner API is switched off for everyone: every call returns 503.'}
        </span>
        <button type="button" disabled={!service.data} onClick={() => setDialog({ kind: 'whole service' })}>
          {isServiceOn ? 'Switch off for everyone' : 'Switch on for everyone'}
        </button>
      </div>
      <div class="row filters">
        <label>
          Name or ID
          <input type="search" value={search} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
        </label>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Organisations, newest first"
        rows={list.items}
        keyOf={({ org_id }) => org_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          search ? (
            <p class="soft">No organisation matches this name or ID.</p>
          ) : (
            <>
              <h2>No organisation yet</h2>
              <p class="soft">
                Create the first organisation, then add members, grant credits and run a first campaign.
              </p>
            </>
          )
        }
        columns={[
          {
            name: 'Name',
            cell: ({ org_id, name }) => (
              <>
                <Link to={`/${org_id}/test`}>{name}</Link>
                <div class="soft small">
                  <code>{org_id}</code>
                </div>
              </>
            ),
          },
          {
            name: 'Service',
            cell: ({ service_off }) => <Badge state={service_off ? 'disabled' : 'enabled'} />,
          },
          { name: 'Test credits', right: true, cell: ({ credits }) => credits.test.toLocaleString() },
          { name: 'Live credits', right: true, cell: ({ credits }) => credits.live.toLocaleString() },
          {
            name: 'Members',
            right: true,
            cell: ({ org_id, members }) => <Link to={`/${org_id}/test/members`}>{members}</Link>,
          },
          {
            name: 'Keys',
            right: true,
            cell: ({ org_id, keys }) => <Link to={`/${org_id}/test/keys`}>{keys}</Link>,
          },
          { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Actions',
            cell: (org) => (
              <span class="row">
                <button
                  type="button"
                  class="plain flush"
                  aria-label={`Credits of ${org.name}`}
                  onClick={() => setDialog({ kind: 'credits', org })}
                >
                  Credits
                </button>
                <button
                  type="button"
                  class="plain flush"
                  aria-label={`Switch ${org.service_off ? 'on' : 'off'}: ${org.name}`}
                  onClick={() => setDialog({ kind: 'service', org })}
                >
                  Switch {org.service_off ? 'on' : 'off'}
                </button>
              </span>
            ),
          },
        ]}
      />
      {dialog?.kind === 'new' && <NewOrganisation onClose={close} onCreated={reload} />}
      {dialog?.kind === 'credits' && <Credits org={dialog.org} onClose={close} onGranted={() => void list.reload()} />}
      {dialog?.kind === 'service' && (
        <Confirm
          title={`Switch ${dialog.org.name} ${dialog.org.service_off ? 'on' : 'off'}?`}
          action={dialog.org.service_off ? 'Switch on' : 'Switch off'}
          onClose={close}
          act={() =>
            api(`/operator/orgs/${dialog.org.org_id}/service`, {
              method: 'PUT',
              body: { on: dialog.org.service_off },
            })
          }
          onDone={reload}
        >
          <p>
            {dialog.org.service_off
              ? 'Its API calls work again, and its members can change data again.'
              : 'Its calls to the partner API return 503, and its members can view but not change data.'}
          </p>
        </Confirm>
      )}
      {dialog?.kind === 'whole service' && service.data && (
        <Confirm
          title={service.data.on ? 'Switch the partner API off for everyone?' : 'Switch the partner API on again?'}
          action={service.data.on ? 'Switch off for everyone' : 'Switch on for everyone'}
          onClose={close}
          act={() => api('/operator/service', { method: 'PUT', body: { on: !service.data!.on } })}
          onDone={() => void service.reload()}
        >
          <p>
            {service.data.on
              ? 'Every call to the partner API returns 503 until you switch it on again.'
              : 'All organisations that are not switched off can use the partner API again.'}
          </p>
        </Confirm>
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
    <Dialog title="New organisation" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void createOrganisation(event)}>
        {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
        <Field
          id="organisation-name"
          label="Name"
          hint="Candidates and reviewers may see this name."
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
          Create organisation
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
