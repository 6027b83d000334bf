import type { Replay, Webhook, WebhookTest, WebhookWithSecret } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import '../shared/forms.css'
import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { CreatedVia, ReadOnly } from '../shared/created-via.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { type ApiError, type ApiResponse, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { type Params, ParentLink } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { Deliveries } from './deliveries.tsx'
import { typesText, useEventTypes } from './event-types.ts'
import { WebhookForm, WebhookSecret } from './webhook-form.tsx'

type OpenDialog = 'edit' | 'rotate' | 'disable' | 'enable' | 'archive'

/** A webhook endpoint, its delivery log, and actions to replay events. */
export default function WebhookPage({ params }: { params: Params }) {
  const context = useOrgContext()
  const path = context.apiPath(`/webhooks/${params.webhook_id}`)
  const { data, error, set, reload } = useData<Webhook>(path)
  const [dialog, setDialog] = useState<OpenDialog>()
  const [secret, setSecret] = useState<WebhookWithSecret>()
  const [notice, setNotice] = useState<{ kind: 'good' | 'bad'; text: string }>()
  const [sendCount, setSendCount] = useState(0)
  const types = useEventTypes()
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <h1 class="waiting">Webhook endpoint</h1>
  const createdHere = data.created_via === 'playground'
  const isNotArchived = data.status !== 'archived'
  const isActive = data.status === 'enabled' || data.status === 'failing'
  const isOwner = context.can('owner')
  const close = () => setDialog(undefined)
  return (
    <>
      <p>
        <ParentLink to={context.pagePath('/webhooks')}>{t('Webhooks')}</ParentLink>
      </p>
      <div class="page-head">
        <h1>
          {data.url} <Badge state={data.status} />
        </h1>
        {isOwner && isNotArchived && (
          <div class="row">
            {isActive && (
              <button type="button" class="primary" onClick={() => void sendTest()}>
                {t('Send test event')}
              </button>
            )}
            {createdHere && data.status === 'disabled' && (
              <button type="button" class="primary" onClick={() => setDialog('enable')}>
                {t('Enable')}
              </button>
            )}
          </div>
        )}
      </div>
      {data.status === 'failing' && (
        <Notice kind="bad">
          {t(
            'This endpoint has accepted no event for a day. We keep retrying; pending events are delivered when it returns 2xx.',
          )}
        </Notice>
      )}
      {data.status === 'disabled' && (
        <Notice kind="wait">{t('This endpoint is disabled: events are stored, but not sent.')}</Notice>
      )}
      {!createdHere && isNotArchived && isOwner && <ReadOnly noun={t('endpoint')} />}
      {notice && <Notice kind={notice.kind}>{notice.text}</Notice>}
      <DescriptionList>
        <DescriptionItem name={t('Events')}>{typesText(data.event_types, types)}</DescriptionItem>
        {data.description && <DescriptionItem name={t('Description')}>{data.description}</DescriptionItem>}
        <DescriptionItem name={t('Created')}>
          <Time at={data.created_at} /> <CreatedVia via={data.created_via} />
        </DescriptionItem>
        <DescriptionItem name={t('Updated')}>
          <Time at={data.updated_at} />
        </DescriptionItem>
        <DescriptionItem name="ID">
          <code>{data.webhook_id}</code>
        </DescriptionItem>
      </DescriptionList>
      {isOwner && createdHere && isNotArchived && (
        <div class="row">
          <button type="button" onClick={() => setDialog('edit')}>
            {t('Edit')}
          </button>
          <button type="button" onClick={() => setDialog('rotate')}>
            {t('Rotate secret')}
          </button>
          {isActive && (
            <button type="button" onClick={() => setDialog('disable')}>
              {t('Disable')}
            </button>
          )}
          <button type="button" onClick={() => setDialog('archive')}>
            {t('Archive')}
          </button>
        </div>
      )}
      <Deliveries path={path} sendCount={sendCount} replay={isOwner && isActive ? replay : undefined} />
      {dialog === 'edit' && (
        <WebhookForm
          webhook={data}
          onClose={close}
          onSaved={(saved) => {
            set(saved)
            close()
          }}
        />
      )}
      {dialog === 'rotate' && (
        <Dialog title={t('Rotate the secret?')} onClose={close}>
          <p>
            {t(
              'Creates a new secret. For 24 hours, events are signed with both secrets, so that you can switch without downtime.',
            )}
          </p>
          <button type="button" class="primary" onClick={() => void rotate()}>
            {t('Rotate secret')}
          </button>
        </Dialog>
      )}
      {dialog === 'disable' && (
        <Confirm
          title={t('Disable this endpoint?')}
          action={t('Disable')}
          onClose={close}
          act={() => applyUpdate(api<Webhook>(`${path}/disable`, { body: {} }))}
          onDone={() => {}}
        >
          <p>
            {t(
              'Events are stored, but not sent, until you enable it again. You can then send or discard the stored events.',
            )}
          </p>
        </Confirm>
      )}
      {dialog === 'enable' && (
        <Dialog title={t('Enable this endpoint?')} onClose={close}>
          <p>{t('Events were stored while it was disabled. Do you want to send them now?')}</p>
          <div class="row">
            <button type="button" class="primary" onClick={() => void enable(true)}>
              {t('Enable and send stored events')}
            </button>
            <button type="button" onClick={() => void enable(false)}>
              {t('Enable and discard stored events')}
            </button>
          </div>
        </Dialog>
      )}
      {dialog === 'archive' && (
        <Confirm
          title={t('Archive this endpoint?')}
          action={t('Archive')}
          onClose={close}
          act={() => applyUpdate(api<Webhook>(path, { method: 'DELETE' }))}
          onDone={() => {}}
        >
          <p>
            {t('No more events are sent to this endpoint, and pending events are discarded. This cannot be undone.')}
          </p>
        </Confirm>
      )}
      {secret && <WebhookSecret webhook={secret} onClose={() => setSecret(undefined)} />}
    </>
  )

  async function sendTest() {
    const response = await api<WebhookTest>(`${path}/test`, { body: {} })
    if (!response.ok) return showError(response.error)
    setNotice({ kind: 'good', text: t('Test event queued. The response appears in the delivery log below.') })
    setSendCount((count) => count + 1)
  }

  async function rotate() {
    const response = await api<WebhookWithSecret>(`${path}/rotate-secret`, { body: {} })
    close()
    if (!response.ok) return showError(response.error)
    setSecret(response.data)
    await reload()
  }

  async function enable(recover: boolean) {
    const response = await applyUpdate(api<Webhook>(`${path}/enable`, { body: { recover } }))
    close()
    if (!response.ok) return showError(response.error)
    setNotice({
      kind: 'good',
      text: recover ? t('Enabled. Stored events are being sent.') : t('Enabled. Only new events are sent.'),
    })
    setSendCount((count) => count + 1)
  }

  async function replay(selection: object) {
    const response = await api<Replay>(`${path}/replay`, { body: selection })
    if (!response.ok) return showError(response.error)
    const { replayed } = response.data
    setNotice({
      kind: 'good',
      text: replayText(replayed),
    })
    setSendCount((count) => count + 1)
  }

  async function applyUpdate(pending: Promise<ApiResponse<Webhook>>): Promise<ApiResponse<Webhook>> {
    const response = await pending
    if (response.ok) {
      set(response.data)
      setNotice(undefined)
    }
    return response
  }

  function showError({ message, details }: ApiError) {
    setNotice({ kind: 'bad', text: [message, ...details.map((each) => `${each.path} ${each.message}.`)].join(' ') })
  }
}

function replayText(count: number): string {
  if (count === 0) return t('No events to replay.')
  return count === 1
    ? t('1 event queued for redelivery.')
    : t('{count} events queued for redelivery.', { count: count.toLocaleString(displayLocale()) })
}
