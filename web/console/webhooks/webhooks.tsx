import type { Webhook, WebhookWithSecret } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import '../shared/forms.css'
import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { CreatedVia } from '../shared/created-via.tsx'
import { MODE_NAMES } from '../shared/mode-names.ts'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { typesText, useEventTypes } from './event-types.ts'
import { WebhookForm, WebhookSecret } from './webhook-form.tsx'

const STATUS_FILTERS = [
  ['enabled', t('enabled')],
  ['failing', t('failing')],
  ['disabled', t('disabled')],
  ['archived', t('archived')],
  ['all', t('all')],
] as const

export default function Webhooks() {
  const context = useOrgContext()
  const { query } = useAddress()
  const status = query.get('status') ?? ''
  const list = useList<Webhook>(context.apiPath(`/webhooks${status && status !== 'all' ? `?status=${status}` : ''}`))
  const [adding, setAdding] = useState(false)
  const [created, setCreated] = useState<WebhookWithSecret>()
  const shownWebhooks = status ? list.items : list.items?.filter((webhook) => webhook.status !== 'archived')
  const isOwner = context.can('owner')
  const types = useEventTypes()
  return (
    <>
      <div class="page-head">
        <h1>{t('Webhooks')}</h1>
        {isOwner && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            {t('Add endpoint')}
          </button>
        )}
      </div>
      <p class="soft">
        {t('We POST signed {mode} events to these endpoints and retry for 30 days. You can add up to five endpoints.', {
          mode: MODE_NAMES[context.mode],
        })}
      </p>
      <div class="row filters">
        <label>
          {t('Status')}
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">{t('Not archived')}</option>
            {STATUS_FILTERS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Endpoints, newest first')}
        rows={shownWebhooks}
        keyOf={({ webhook_id }) => webhook_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          status ? (
            <p class="soft">{t('No endpoints with this status.')}</p>
          ) : (
            <>
              <h2>{t('No endpoints yet')}</h2>
              <p class="soft">
                {richText(
                  'Add the URL of your server to receive results automatically. Without an endpoint, pull them from <link>Events</link>.',
                  { link: (words) => <Link to={context.pagePath('/events')}>{words}</Link> },
                )}
              </p>
            </>
          )
        }
        columns={[
          {
            name: 'URL',
            cell: ({ webhook_id, url, description }) => (
              <>
                <span class="long">
                  <Link to={context.pagePath(`/webhooks/${webhook_id}`)}>{url}</Link>
                </span>
                {description && <div class="soft small">{description}</div>}
              </>
            ),
          },
          { name: t('Status'), cell: ({ status: state }) => <Badge state={state} /> },
          { name: t('Events'), cell: ({ event_types }) => typesText(event_types, types) },
          { name: t('Source'), aside: true, cell: ({ created_via }) => <CreatedVia via={created_via} /> },
          { name: t('Created'), cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      {adding && <WebhookForm onClose={() => setAdding(false)} onSaved={showSecret} />}
      {created && <WebhookSecret webhook={created} onClose={() => setCreated(undefined)} />}
    </>
  )

  function showSecret(webhook: WebhookWithSecret) {
    setAdding(false)
    setCreated(webhook)
    void list.reload()
  }
}
