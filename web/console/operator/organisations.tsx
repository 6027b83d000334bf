import { useContext, useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { RefreshContext } from '../shell/session.ts'
import { Credits, type OperatedOrganisation } from './credits.tsx'

type Asking = { what: 'credits' | 'service'; org: OperatedOrganisation } | { what: 'new' } | { what: 'whole service' }

export default function OperatorOrganisations() {
  const { query } = useAddress()
  const q = query.get('q') ?? ''
  const list = useList<OperatedOrganisation>(`/operator/orgs${q.trim() ? `?q=${encodeURIComponent(q.trim())}` : ''}`)
  const service = useData<{ on: boolean }>('/operator/service')
  const on = service.data?.on ?? true
  const [asking, setAsking] = useState<Asking>()
  const refresh = useContext(RefreshContext)
  const close = () => setAsking(undefined)
  return (
    <>
      <div class="page-head">
        <h1>Organisations</h1>
        <button type="button" class="primary" onClick={() => setAsking({ what: 'new' })}>
          New organisation
        </button>
      </div>
      {/* There from the start, as it mostly stands: what is below does not jump when the answer comes. */}
      <div class={`notice ${on ? 'good' : 'bad'} row between`}>
        <span class={service.data ? '' : 'waiting'}>
          {on
            ? 'The partner API is on for everyone whose own switch is on.'
            : 'The partner API is switched off for everyone: every call gets 503.'}
        </span>
        <button type="button" disabled={!service.data} onClick={() => setAsking({ what: 'whole service' })}>
          {on ? 'Switch everything off' : 'Switch everything on'}
        </button>
      </div>
      <div class="row filters">
        <label>
          Name or id
          <input type="search" value={q} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
        </label>
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Organisations, newest first"
        rows={list.items}
        keyOf={({ org_id }) => org_id}
        more={list.more}
        loading={list.loading}
        empty={
          q ? (
            <p class="soft">No organisation has this in its name.</p>
          ) : (
            <>
              <h2>No organisation yet</h2>
              <p class="soft">Make the first one; then add its people, give it credits, and run a first campaign.</p>
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
            name: 'People',
            right: true,
            cell: ({ org_id, members }) => <Link to={`/${org_id}/test/members`}>{members}</Link>,
          },
          {
            name: 'Keys',
            right: true,
            cell: ({ org_id, keys }) => <Link to={`/${org_id}/test/keys`}>{keys}</Link>,
          },
          { name: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Do',
            cell: (org) => (
              <span class="row">
                <button
                  type="button"
                  class="plain flush"
                  aria-label={`Credits of ${org.name}`}
                  onClick={() => setAsking({ what: 'credits', org })}
                >
                  Credits
                </button>
                <button
                  type="button"
                  class="plain flush"
                  aria-label={`Switch ${org.service_off ? 'on' : 'off'}: ${org.name}`}
                  onClick={() => setAsking({ what: 'service', org })}
                >
                  Switch {org.service_off ? 'on' : 'off'}
                </button>
              </span>
            ),
          },
        ]}
      />
      {asking?.what === 'new' && <NewOrganisation onClose={close} onMade={changed} />}
      {asking?.what === 'credits' && <Credits org={asking.org} onClose={close} onGranted={() => void list.reload()} />}
      {asking?.what === 'service' && (
        <Confirm
          title={`Switch ${asking.org.name} ${asking.org.service_off ? 'on' : 'off'}?`}
          action={asking.org.service_off ? 'Switch on' : 'Switch off'}
          onClose={close}
          act={() =>
            api(`/operator/orgs/${asking.org.org_id}/service`, {
              method: 'PUT',
              body: { on: asking.org.service_off },
            })
          }
          onDone={changed}
        >
          <p>
            {asking.org.service_off
              ? 'Its calls are answered again, and its people can change things again.'
              : 'Its calls to the partner API get 503, and its people can read but not change anything.'}
          </p>
        </Confirm>
      )}
      {asking?.what === 'whole service' && service.data && (
        <Confirm
          title={service.data.on ? 'Switch the partner API off for everyone?' : 'Switch the partner API on again?'}
          action={service.data.on ? 'Switch everything off' : 'Switch everything on'}
          onClose={close}
          act={() => api('/operator/service', { method: 'PUT', body: { on: !service.data!.on } })}
          onDone={() => void service.reload()}
        >
          <p>
            {service.data.on
              ? 'Every partner gets 503 until you switch it on again.'
              : 'Partners whose own switch is on are served again.'}
          </p>
        </Confirm>
      )}
    </>
  )

  /** The frame around the page names organisations too. */
  function changed() {
    void list.reload()
    void refresh()
  }
}

function NewOrganisation({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState('')
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const fault = refusal?.details.find(({ path }) => path === 'name')?.message
  return (
    <Dialog title="New organisation" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void make(event)}>
        {refusal && !fault && <Notice kind="bad">{refusal.message}</Notice>}
        <Field id="organisation-name" label="Name" hint="Candidates and reviewers may read it." fault={fault}>
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
        <Action class="primary" busy={busy} ready={name.trim() !== ''}>
          Make it
        </Action>
      </form>
    </Dialog>
  )

  async function make(event: Event) {
    event.preventDefault()
    setBusy(true)
    const answer = await api('/operator/orgs', { body: { name: name.trim() } })
    setBusy(false)
    if (!answer.ok) return setRefusal(answer.refusal)
    onMade()
    onClose()
  }
}
